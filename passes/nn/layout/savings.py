"""Memory that layouts trade for time: padding of blocks, row pitch, copies in other layouts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from ....decisions.alternatives import Saving
from ....dialects import cl, nn
from ....dialects.cl.ops import byte_count
from ....dialects.nn import LayoutAttr
from ...cl.intermediates import can_view, row_pitch
from ...locations import node_name
from .candidates import PLAIN, Candidate
from .kernels import Work, works_of_group

if TYPE_CHECKING:
    from .carry_out import GroupKernels
    from .problem import LayoutProblem
    from .solver import Solution


def smaller_layouts(
    problem: LayoutProblem, solution: Solution
) -> Iterator[tuple[SSAValue, LayoutAttr | None, Saving]]:
    """Yield the values whose layout has padding, each with its cheapest layout without any."""
    around = problem.problem.neighbours()
    for value, variable in problem.variables.items():
        if variable.work is None or variable.work.is_view:
            continue
        number, type_ = variable.number, nn.plain_type(value.type)
        chosen = variable.candidates[solution.choice[number]]
        saved = _excess(type_, chosen.layout, problem.target)
        if not saved:
            continue
        costs = problem.problem.local_costs(number, solution.choice, around[number])
        now = float(costs[solution.choice[number]])
        # If images are preferred, the plain layout is not a candidate and has no estimate: assume
        # twice the time.
        times = {None: 2 * now} | {
            candidate.layout: float(cost)
            for candidate, cost in zip(variable.candidates, costs, strict=True)
            if not _excess(type_, candidate.layout, problem.target)
        }
        layout = min(times, key=times.__getitem__)
        memory = nn.buffer_type(nn.with_layout(type_, chosen.layout))
        plain = byte_count(nn.buffer_type(type_))
        needed = 0 if can_view(memory, problem.target) else plain
        yield value, layout, Saving(saved, times[layout] - now, needed)


def operand_copies(
    problem: LayoutProblem, solution: Solution, kernels: Iterable[GroupKernels]
) -> dict[SSAValue, Saving]:
    """Return what each kernel saves that reads its operands as stored, by the kernel's result.

    Kernels that copy no operand into another layout are left out.
    """
    found: dict[SSAValue, Saving] = {}
    model = problem.tables.model
    held = {v: x.candidates[solution.choice[x.number]] for v, x in problem.variables.items()}
    for group in kernels:
        for work, kernel in zip(works_of_group(group.group), group.kernels, strict=True):
            size, longer, result = 0, 0.0, kernel.result.layout
            for value, layout in zip(work.inputs, kernel.operands, strict=True):
                if value in held and held[value].layout != layout:
                    type_, stored = nn.plain_type(value.type), held[value].layout
                    size += byte_count(nn.buffer_type(nn.with_layout(type_, layout)))
                    longer += model.read(work, value, stored, result)
                    longer -= model.read(work, value, layout, result)
                    longer -= model.transform(type_, stored, layout)
            if size:
                found[work.result] = Saving(size, longer)
    return found


def node_of(work: Work) -> str:
    """Return the node that names the command of a kernel."""
    return node_name(work.ops[-1])


def possible_layouts(candidates: Iterable[Candidate]) -> list[LayoutAttr | None]:
    """Return the layouts that may be demanded for a value: its candidates and plain."""
    return list(dict.fromkeys(each.layout for each in (*candidates, PLAIN)))


def _excess(type_: nn.Tensor, layout: LayoutAttr | None, target: cl.Target) -> int:
    """Return the bytes of block tails and row pitch, or all bytes if no arena can hold them."""
    memory = nn.buffer_type(nn.with_layout(type_, layout))
    size = cl.stored_bytes(memory, row_pitch(memory, target))
    return size - byte_count(nn.buffer_type(type_)) if can_view(memory, target) else size
