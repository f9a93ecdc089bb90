"""Kernels without a reduction: walk memory in order, a vector at a time."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ....dialects import cl, tir
from ..schedule import Schedule
from .stages import Stage, strides

_VECTORS_PER_ITEM = 16
"""A work-item on a CPU costs about 10 ns to start: it should compute a few hundred elements."""


def collapse(schedule: Schedule, stage: Stage) -> list[tir.ForOp]:
    """Fuse neighbouring loops that every access walks as one; returns the loops that are left.

    Loops i and j (inner) are one walk where each access moves by `extent(j)` steps of j per step of
    i, so that no index needs a division afterwards.
    """
    moves = list(strides(stage.block).values())
    positions = list(range(len(stage.loops)))
    loops = [stage.loops[0]]
    inner_of = [positions[0]]
    for position in positions[1:]:
        loop, outer = stage.loops[position], inner_of[-1]
        together = all(
            move[outer] is not None
            and move[position] is not None
            and move[outer] == (move[position] or 0) * loop.size
            for move in moves
        )
        if together or loops[-1].size == 1 or loop.size == 1:
            kept = loops[-1].var.name_hint if loop.size == 1 else loop.var.name_hint
            loops[-1] = schedule.fuse(loops[-1], loop, name=kept)
            inner_of[-1] = position if loop.size > 1 else outer
        else:
            loops.append(loop)
            inner_of.append(position)
    return loops


def schedule_elementwise(
    schedule: Schedule, stage: Stage, target: cl.Target, *, one_axis: bool = False
) -> None:
    """Vectorize along memory and bind the rest.

    Stages that share a kernel share its grid, which spans the longest of their loops on each axis:
    with `one_axis` it is the longest stage and not a product of loops of different ones.
    """
    if not stage.loops:
        return
    loops = collapse(schedule, stage)
    if target.device_type == "gpu":
        bind_gpu(schedule, [schedule.fuse(*loops)] if one_axis else loops, target)
    else:
        grid = _vectorize_cpu(schedule, loops, target)
        bind_grid(schedule, [schedule.fuse(*grid)] if one_axis and grid else grid)


def _vectorize_cpu(
    schedule: Schedule, loops: list[tir.ForOp], target: cl.Target
) -> list[tir.ForOp]:
    """Vectors inside, enough of them for each work-item; returns the loops over work-items."""
    *outer, inner = loops
    width = target.vector_width
    while width > inner.size:
        width //= 2
    if width > 1:
        inner, lanes = schedule.split(inner, width, overlap=True)
        schedule.vectorize(lanes)
    # Enough work-items to balance the cores, each with enough to do.
    total = prod(loop.size for loop in outer) * inner.size
    items = max(target.compute_units * 8, total // _VECTORS_PER_ITEM)
    grid, chunk = [*outer, inner], total // items
    while grid and chunk > 1:
        loop = grid.pop()
        if loop.size > chunk:
            grid.append(schedule.split(loop, chunk)[0])
            break
        chunk //= loop.size
    return grid


def schedule_border(schedule: Schedule, stage: Stage, main: Stage) -> None:
    """Let the work-items of a kernel's main stage share a small other one.

    Its outermost loop runs over the longest index of the grid that there is, in chunks, so that the
    grid does not grow; the rest is sequential.
    """
    bound = [loop for loop in tir.enclosing_loops(main.block) if loop.kind.data.is_bound]
    loops = sorted(stage.loops, key=lambda loop: loop.size > 1)
    loop = next((loop for loop in loops if loop.size > 1), None)
    if loop is None or not bound:
        return
    schedule.reorder(*loops)
    longest = max(bound, key=lambda other: other.size)
    if loop.size > longest.size:
        loop, _ = schedule.split(loop, -(-loop.size // longest.size))
    schedule.bind(loop, longest.kind.data)


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


def bind_gpu(schedule: Schedule, loops: list[tir.ForOp], target: cl.Target) -> tir.ForOp:
    """One work-item per iteration, consecutive items in the last loop; returns their loop."""
    *outer, inner = loops
    size = min(256, target.max_work_group_size)
    while size > 32 and size >= 2 * inner.size:
        size //= 2
    inner, local = schedule.split(inner, size, ("group", "item"))
    bind_axes(schedule, outer, (tir.LoopKind.GroupY, tir.LoopKind.GroupZ))
    schedule.bind(inner, tir.LoopKind.GroupX)
    schedule.bind(local, tir.LoopKind.LocalX)
    return local
