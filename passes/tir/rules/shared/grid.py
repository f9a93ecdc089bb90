"""Binding of a kernel's loops to the index space of a launch."""

from __future__ import annotations

from collections.abc import Sequence

from .....dialects import cl, tir
from ...schedule import Schedule
from ..space import Choice, number, numbers
from ..stages import KernelStage, split_lanes

LARGE_GROUP = 256
"""Work-items of a group that hides the latencies of buffers, and for which a long kernel still has
registers. On an H100 groups twice as large halve the time of a long sum in few groups, and gain
nothing elsewhere."""
SHARED_GROUP = 128
"""Least work-items of a group that shares reductions: two waves or more."""
WAVE = 32
"""Work-items that a GPU runs in step: NVIDIA's warp; the waves of others are longer."""

LOCAL_SIZE = numbers("local_size", "work-items of a group along x, y and z")
"""The work-group on a CPU, where loops are bound to global indices."""
DEFAULT_LOCAL_SIZE = (1, 1, 1)
"""One work-item per group. If the driver chooses, it may put all of them into one group, which runs
on one core."""
_LARGEST_CPU_GROUP = 64

MOST_PRIVATE = 5 << 19
"""Bytes of values that the work-items of a CPU's group may keep. Runtimes put them on the stack of
a thread, which overflows at 8 MB (PoCL). A kernel that computes borders apart has an array twice,
and tiles that overlap have larger ones."""

GROUP = number("group", "work-items of a group")


def local_sizes(target: cl.Target, item_bytes: int = 1) -> Choice:
    """Return the domain of `LOCAL_SIZE`.

    A work-item has at least `item_bytes` of private memory.
    """
    most = min(
        _LARGEST_CPU_GROUP, target.device.max_work_group_size, max(1, MOST_PRIVATE // item_bytes)
    )
    return Choice(tuple((size, 1, 1) for size in _powers(most)))


def group_sizes(target: cl.Target) -> Choice:
    """Return the sizes of groups along x, the only axis that has several work-items."""
    most = target.device.max_work_group_size
    return Choice(tuple(sorted({*_powers(most), most})))


def group_size(inner: int, target: cl.Target) -> int:
    """Return a group for a nest whose last loop runs `inner` times: large, but not mostly idle."""
    size = _powers(min(LARGE_GROUP, target.device.max_work_group_size))[-1]
    while size > WAVE and size >= 2 * inner:
        size //= 2
    return size


def _powers(most: int) -> list[int]:
    """Return the powers of two up to `most`."""
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
    """Run one work-item per iteration, neighbours in the last loop; return their loop."""
    *outer, inner = loops
    inner, local = schedule.split(inner, size, ("group", "item"))
    bind_axes(schedule, outer, (tir.LoopKind.GroupY, tir.LoopKind.GroupZ))
    schedule.bind(inner, tir.LoopKind.GroupX)
    schedule.bind(local, tir.LoopKind.LocalX)
    return local


def join_grid(schedule: Schedule, borders: Sequence[KernelStage], main: KernelStage) -> None:
    """Let the work-items of a kernel's main stage share small other ones."""
    for border in borders:
        _join_grid(schedule, border.loops, main)


def join_grid_of_texels(
    schedule: Schedule, borders: Sequence[KernelStage], main: KernelStage
) -> None:
    """Do as `join_grid`, and write texels whole."""
    for border in borders:
        loops, lanes = split_lanes(schedule, border)
        if lanes is not None:
            schedule.reorder(*loops, lanes)
        _join_grid(schedule, loops, main)
        if lanes is not None:
            schedule.vectorize(lanes)


def _join_grid(schedule: Schedule, loops: Sequence[tir.ForOp], main: KernelStage) -> None:
    """Bind the outermost loop to the longest index of the grid; the others are sequential.

    It runs in chunks, so that the grid does not grow. Images are bound to an index of their number,
    so that a launch for fewer images leaves out both. This follows from the grid and needs no
    decision.
    """
    bound = [loop for loop in tir.enclosing_loops(main.block) if loop.kind.data.is_bound]
    images = loops[0].size
    loops = sorted(loops, key=lambda loop: loop.size > 1)
    loop = next((loop for loop in loops if loop.size > 1), None)
    if loop is None or not bound:
        return
    schedule.reorder(*loops)
    has_images = loop.size == images
    index = max(bound, key=lambda other: (has_images and other.size == images, other.size))
    if loop.size > index.size:
        loop, _ = schedule.split(loop, -(-loop.size // index.size))
    schedule.bind(loop, index.kind.data)
