"""The kernels that a solution leaves to OpenCL, and the application of their layouts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from ....dialects import cl, nn
from ....dialects.nn import LayoutAttr
from ...locations import node_name
from ..fuse import Group, outline
from .apply import Layouts, insert_transforms, place_constants, retype, spare_images
from .candidates import PLAIN, Candidate
from .images import argument_layouts, result_layouts
from .kernels import Work, work_lane, works_of_group
from .offload import OffloadProblem, rest_of
from .problem import LayoutProblem, LayoutVariable
from .solver import Solution

_Held: TypeAlias = Mapping[SSAValue, tuple[LayoutVariable, Candidate]]
"""Values that OpenCL kernels can read, with their possible layouts and the chosen one."""


@dataclass(frozen=True)
class KernelLayouts:
    """The layouts of one kernel's result and operands."""

    result: Candidate
    operands: Layouts
    is_packed: bool
    """Whether the kernel reads or writes texels."""


@dataclass(frozen=True)
class GroupKernels:
    """A group of operations and the kernels that it becomes, one for each result with a use."""

    group: Group
    kernels: Sequence[KernelLayouts]

    @property
    def is_packed(self) -> bool:
        """Whether one of the kernels reads or writes texels."""
        return any(kernel.is_packed for kernel in self.kernels)


def kernels_of_layouts(problem: LayoutProblem, solution: Solution) -> list[GroupKernels]:
    """Return the kernels of a solution of the layout problem."""
    held = {
        value: (variable, variable.candidates[solution.choice[variable.number]])
        for value, variable in problem.variables.items()
    }
    return [_kernels(problem, group, works_of_group(group), held) for group in problem.groups]


def kernels_of_both(problem: OffloadProblem, solution: Solution) -> list[GroupKernels]:
    """Return the kernels that a choice of writers and layouts leaves to OpenCL."""
    layouts = problem.layouts
    held: dict[SSAValue, tuple[LayoutVariable, Candidate]] = {}
    for value, variable in problem.variables.items():
        layout = problem.state_of(solution, value).layout
        if layout is not None:
            source = replace(layouts.variables[value], candidates=variable.layouts)
            held[value] = source, variable.layouts[layout]
    kernels: list[GroupKernels] = []
    for group in layouts.groups:
        works = works_of_group(group)
        value = works[0].result
        offer = problem.state_of(solution, value).offer
        if offer is None:
            kernels.append(_kernels(layouts, group, works, held))
        elif not offer.is_whole:
            rest = rest_of(works[0], offer)
            crossing = {offer.result: (problem.crossing(offer), PLAIN)}
            left = replace(group, ops=list(rest.ops))
            kernels.append(_kernels(layouts, left, [rest], {**held, **crossing}))
    return kernels


def _kernels(
    problem: LayoutProblem, group: Group, works: Iterable[Work], held: _Held
) -> GroupKernels:
    return GroupKernels(group, [_kernel(problem, work, held) for work in works])


def _kernel(problem: LayoutProblem, work: Work, held: _Held) -> KernelLayouts:
    _, result = held[work.result]
    reads = {value: _read(problem, work, held, value) for value in work.inputs if value in held}
    operands = [reads.get(value) for value in work.inputs]
    return KernelLayouts(
        result, operands, is_packed(problem.target, work, [*operands, result.layout])
    )


def is_packed(target: cl.Target, work: Work, layouts: Layouts) -> bool:
    """Return whether a kernel reads or writes texels if its values have these layouts."""
    # A contraction between plain tensors still has weights, which may be texels.
    has_texels = target.policy.texture == "prefer" and work_lane(work) is not None
    return has_texels or any(layout is not None for layout in layouts)


def _read(problem: LayoutProblem, work: Work, held: _Held, operand: SSAValue) -> LayoutAttr | None:
    """Return the layout in which a kernel reads an operand that is not constant.

    At equal cost the operand's own layout wins, since it needs no transform.
    """
    source, chosen = held[operand]
    result = problem.variables[work.result].candidates.index(held[work.result][1])
    costs = problem.detours(work, source)[source.candidates.index(chosen), :, result]
    layouts = [candidate.layout for candidate in problem.readable_by(work, source)]
    best = int(costs.argmin())
    if chosen.layout in layouts and costs[layouts.index(chosen.layout)] <= costs[best]:
        best = layouts.index(chosen.layout)
    return layouts[best]


def carry_out(
    function: func.FuncOp, chosen: Iterable[GroupKernels], target: cl.Target
) -> list[str]:
    """Outline the kernels that read or write texels as regions, with the chosen layouts.

    Insert `nn.relayout` where a layout changes, and for constants. Plain kernels stay plain
    operations, and existing regions keep their layouts. Arguments and results that the application
    passes as images get the layouts of these. Return remarks.
    """
    wanted: dict[Operation, Layouts] = {
        op: [nn.layout_of(value) for value in op.operands]
        for op in function.body.block.ops
        if isinstance(op, nn.FusedOp | nn.RelayoutOp)
    }
    regions: dict[nn.FusedOp, KernelLayouts] = {}
    for group in chosen:
        if group.is_packed:
            regions |= zip(outline(group.group), group.kernels, strict=True)
    remarks: list[str] = []
    for fused, kernel in regions.items():
        wanted[fused] = kernel.operands
        retype(fused.outputs[0], kernel.result.layout)
        if kernel.result.remark:
            remarks.append(f"{node_name(fused)}: {kernel.result.remark}")
    for value, candidate in argument_layouts(function).items():
        if candidate.layout is not None:
            retype(value, candidate.layout)
    if (end := function.body.block.last_op) is not None:
        wanted[end] = [candidate.layout for candidate in result_layouts(function)]
    insert_transforms(function.body.block, wanted)
    function.update_function_type()
    remarks += place_constants(regions, target)
    return remarks + [text for fused in regions if (text := spare_images(fused, target))]
