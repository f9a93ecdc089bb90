"""Choose the layout of every value between kernels: plain or in texels, buffer or image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...context import explanations_of
from ...dialects import cl, nn
from ..locations import node_name
from ..remarks import add_remarks
from .fuse import form_groups, outline
from .layout.apply import Layouts, insert_transforms, place_constants, retype, spare_images
from .layout.candidates import Candidate
from .layout.explain import choices_table
from .layout.grouping import TEXELS
from .layout.kernels import Work, work_lane, works_of_group
from .layout.problem import LayoutProblem
from .program.layouts import check_plain


@dataclass(frozen=True)
class NNChooseLayoutPass(ModulePass):
    """Gives each value the layout with which the whole network costs least, on targets that use
    textures; does nothing on others.

    It forms kernels as `nn-fuse` does, for texels, and solves one problem over all of them. Kernels
    that read or write texels become regions, `nn.relayout` stands where a layout must change, and
    for constants. Kernels that stay plain stay operations, for the passes of plain layouts; regions
    that are there already keep their layouts.
    """

    name: ClassVar[str] = "nn-choose-layout"
    explain: bool = False
    """Explain the choices, their costs and those of the next best."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        explanations = explanations_of(ctx) if self.explain else None
        if not target.uses_textures:
            if explanations is not None:
                explanations.append(
                    f"{target.name} uses no textures: texture={target.texture}, "
                    f"image_cost={target.image_cost:g}, images={str(target.images).lower()}"
                )
            return
        for function in nn.networks_of(op):
            add_remarks(op, choose(function, target, explanations))


def choose(
    function: func.FuncOp, target: cl.Target, explanations: list[str] | None = None
) -> list[str]:
    """Choose and apply the layouts of a function; the remarks.

    A table of the choices is added to `explanations`, where there is a list.
    """
    if (end := function.body.block.last_op) is not None:
        check_plain(end, end.operands)
    groups = form_groups(function.body.block.ops, TEXELS)
    problem = LayoutProblem(function, groups, target)
    solution = problem.solve()
    chosen = problem.candidates_of(solution)
    if explanations is not None:
        explanations.append(choices_table(problem, solution))
    wanted: dict[Operation, Layouts] = {
        op: [nn.layout_of(value) for value in op.operands]
        for op in function.body.block.ops
        if isinstance(op, nn.FusedOp | nn.RelayoutOp)
    }
    plans = [[_plan(problem, work, chosen) for work in works_of_group(group)] for group in groups]
    regions: dict[nn.FusedOp, _Plan] = {}
    for group, parts in zip(groups, plans, strict=True):
        if any(plan.is_packed for plan in parts):
            regions |= zip(outline(group), parts, strict=True)
    remarks: list[str] = []
    for fused, plan in regions.items():
        wanted[fused] = plan.operands
        retype(fused.outputs[0], plan.result.layout)
        if plan.result.remark:
            remarks.append(f"{node_name(fused)}: {plan.result.remark}")
    insert_transforms(function.body.block, wanted)
    remarks += place_constants(regions, target)
    return remarks + [text for fused in regions if (text := spare_images(fused, target))]


@dataclass
class _Plan:
    """The layouts of one kernel's result and operands."""

    result: Candidate
    operands: Layouts
    is_packed: bool
    """Whether it reads or writes texels."""


def _plan(problem: LayoutProblem, work: Work, chosen: dict[SSAValue, Candidate]) -> _Plan:
    reads = problem.read_layouts(work, chosen)
    result = chosen[work.result]
    is_packed = result.layout is not None or any(reads.values())
    # A contraction between plain tensors still has weights, which may be texels.
    has_texels = problem.target.texture == "prefer" and work_lane(work) is not None
    operands = [reads.get(value) for value in work.inputs]
    return _Plan(result, operands, is_packed or has_texels)
