"""Memory that layouts trade for time: padding of blocks, row pitch, copies in other layouts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ....dialects import cl, nn
from ....dialects.cl.ops import byte_count
from ....dialects.nn import LayoutAttr
from ...cl.intermediates import can_view, row_pitch
from ...locations import node_name
from ...memory_budget import MemoryBudget, MemorySaving
from .candidates import PLAIN, Candidate
from .kernels import Work, works_of_group

if TYPE_CHECKING:
    from .carry_out import GroupKernels
    from .problem import LayoutProblem
    from .solver import Solution


def node_of(work: Work) -> str:
    """Return the node that names the command of a kernel."""
    return node_name(work.ops[-1])


def smallest(type_: nn.Tensor, possible: Sequence[Candidate], target: cl.Target) -> list[Candidate]:
    """Return the candidates that fit in an arena without padding, like the plain one."""
    all_candidates = [*possible, *([] if PLAIN in possible else [PLAIN])]
    return [c for c in all_candidates if not _excess(type_, c.layout, target)]


def _excess(type_: nn.Tensor, layout: LayoutAttr | None, target: cl.Target) -> int:
    """Return the bytes of block tails and row pitch, or all bytes if no arena can hold them."""
    memory = nn.buffer_type(nn.with_layout(type_, layout))
    size = cl.stored_bytes(memory, row_pitch(memory, target))
    return size - byte_count(nn.buffer_type(type_)) if can_view(memory, target) else size


def offer_savings(
    problem: LayoutProblem,
    solution: Solution,
    kernels: Iterable[GroupKernels],
    budget: MemoryBudget,
) -> None:
    """Offer the bytes beyond the plain layout, and the bytes of copies, with the time they save."""
    held = {v: x.candidates[solution.choice[x.number]] for v, x in problem.variables.items()}
    around = problem.problem.neighbours()
    for value, variable in problem.variables.items():
        if variable.work is None or variable.work.is_view:
            continue
        number, type_ = variable.number, nn.plain_type(value.type)
        costs = problem.problem.local_costs(number, solution.choice, around[number])
        least = smallest(type_, variable.candidates, problem.target)
        times = [float(costs[i]) for i, c in enumerate(variable.candidates) if c in least]
        now = float(costs[solution.choice[number]])
        # If images are preferred, the plain layout is not a candidate and has no estimate: assume
        # twice the time.
        longer = min(times, default=2 * now) - now
        saved = _excess(type_, held[value].layout, problem.target)
        budget.offer(MemorySaving.LAYOUT, node_of(variable.work), saved, longer)
    for group in kernels:
        for work, kernel in zip(works_of_group(group.group), group.kernels, strict=True):
            for value, layout in zip(work.inputs, kernel.operands, strict=True):
                if value in held and held[value].layout != layout:
                    type_ = nn.plain_type(value.type)
                    memory = nn.buffer_type(nn.with_layout(type_, layout))
                    time = problem.tables.model.transform(type_, held[value].layout, layout)
                    budget.offer(MemorySaving.COPY, node_of(work), byte_count(memory), time)
