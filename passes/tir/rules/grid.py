"""Loops become the index space of a launch: the parts that rules share."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import cl, tir
from ..schedule import Schedule
from .space import Choice, Parameter
from .stages import Stage, split_lanes

LOCAL_SIZE = "local_size"
_LARGEST_CPU_GROUP = 64


MOST_PRIVATE = 5 << 19
"""Bytes of the values that work-items of a CPU's group keep. Runtimes have them on the stack of a
thread, which overflows at 8 MB in PoCL; a kernel has an array twice where it computes borders
apart, and larger ones for tiles that overlap."""


def local_size_parameter(target: cl.Target, item_bytes: int = 1) -> Parameter:
    """The work-group of a CPU, where loops are bound to global indices.

    `item_bytes` is the private memory that a work-item has at the least.
    """
    most = min(_LARGEST_CPU_GROUP, target.max_work_group_size, max(1, MOST_PRIVATE // item_bytes))
    return Parameter(
        LOCAL_SIZE,
        "work-items of a group along x, y and z",
        Choice(tuple((size, 1, 1) for size in _powers(most))),
    )


DEFAULT_LOCAL_SIZE = (1, 1, 1)
"""Our work-items are worth a group each; a driver left to choose may put all into one, which then
runs on one core."""


def group_parameter(target: cl.Target, name: str = "group") -> Parameter:
    """The work-items of a group along x, the only axis that has several."""
    most = target.max_work_group_size
    sizes = sorted({*_powers(most), min(target.large_work_group, most)})
    return Parameter(name, "work-items of a group", Choice(tuple(sizes)))


def group_size(inner: int, target: cl.Target) -> int:
    """A group for a nest whose last loop runs `inner` times: large, but not mostly idle."""
    size = min(target.large_work_group, target.max_work_group_size)
    while size > target.small_work_group and size >= 2 * inner:
        size //= 2
    return size


def _powers(most: int) -> list[int]:
    return [1 << bit for bit in range(most.bit_length())]


def bind_grid(schedule: Schedule, loops: list[tir.ForOp]) -> None:
    """Bind loops to the global indices, the last one to x; more than three share z."""
    single = [loop for loop in loops if loop.size == 1]
    loops = [loop for loop in loops if loop.size > 1]
    schedule.reorder(*single, *loops)
    bind_axes(schedule, loops, (tir.LoopKind.GlobalX, tir.LoopKind.GlobalY, tir.LoopKind.GlobalZ))


def bind_axes(schedule: Schedule, loops: list[tir.ForOp], kinds: Sequence[tir.LoopKind]) -> None:
    """Bind directly nested loops, the last one to the first kind; too many share the last kind."""
    loops = list(loops)
    while len(loops) > len(kinds):
        loops[:2] = [schedule.fuse(loops[0], loops[1])]
    # Outer loops first: a bound loop has only bound loops around it.
    for loop, kind in reversed(list(zip(reversed(loops), kinds, strict=False))):
        schedule.bind(loop, kind)


def bind_groups(schedule: Schedule, loops: list[tir.ForOp], size: int) -> tir.ForOp:
    """One work-item per iteration, consecutive items in the last loop; returns their loop."""
    *outer, inner = loops
    inner, local = schedule.split(inner, size, ("group", "item"))
    bind_axes(schedule, outer, (tir.LoopKind.GroupY, tir.LoopKind.GroupZ))
    schedule.bind(inner, tir.LoopKind.GroupX)
    schedule.bind(local, tir.LoopKind.LocalX)
    return local


def join_grid(schedule: Schedule, borders: Sequence[Stage], main: Stage) -> None:
    """Let the work-items of a kernel's main stage share small other ones."""
    for border in borders:
        _join_grid(schedule, border.loops, main)


def join_grid_of_texels(schedule: Schedule, borders: Sequence[Stage], main: Stage) -> None:
    """`join_grid` with texels written whole."""
    for border in borders:
        loops, lanes = split_lanes(schedule, border)
        if lanes is not None:
            schedule.reorder(*loops, lanes)
        _join_grid(schedule, loops, main)
        if lanes is not None:
            schedule.vectorize(lanes)


def _join_grid(schedule: Schedule, loops: Sequence[tir.ForOp], main: Stage) -> None:
    """The outermost loop runs over the longest index of the grid, in chunks: it does not grow.

    The rest is sequential. All of this follows from the grid and needs no decision.
    """
    bound = [loop for loop in tir.enclosing_loops(main.block) if loop.kind.data.is_bound]
    loops = sorted(loops, key=lambda loop: loop.size > 1)
    loop = next((loop for loop in loops if loop.size > 1), None)
    if loop is None or not bound:
        return
    schedule.reorder(*loops)
    longest = max(bound, key=lambda other: other.size)
    if loop.size > longest.size:
        loop, _ = schedule.split(loop, -(-loop.size // longest.size))
    schedule.bind(loop, longest.kind.data)
