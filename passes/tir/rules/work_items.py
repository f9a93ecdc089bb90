"""Work-items for the iterations of a nest: a grid of up to three axes without divisions or guards.

An index that is a coordinate of its own costs nothing; one that is divided out of a fused loop
costs a work-item a dozen instructions, which short kernels notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from ....dialects import cl, tir
from .. import schedule
from .elementwise import fuse_all

_MOST_GROUPS = 65535
"""Groups along y and z: what CUDA devices have there at the most."""
_MOST_DEEP = 64
"""Work-items of a group along z: what CUDA devices have there at the most."""
_DIVISION = 0.15
"""What it costs a work-item to divide an index, as a share of a short kernel."""
_SPARE = 4
"""A group is up to a quarter larger than the device likes best."""

_GROUPS = (tir.LoopKind.GroupX, tir.LoopKind.GroupY, tir.LoopKind.GroupZ)
_ITEMS = (tir.LoopKind.LocalX, tir.LoopKind.LocalY, tir.LoopKind.LocalZ)


def bind_items(loops: Sequence[tir.ForOp], target: cl.Target) -> tir.ForOp:
    """One work-item for each iteration of directly nested loops, outermost first.

    The last loop is x, the one before it y, the others together z; fewer axes where that leaves
    much less idle. The last group of an axis starts early enough to end with the axis, so that none
    needs a guard. Returns the innermost loop.
    """
    single = [loop for loop in loops if loop.size == 1]
    running = [loop for loop in loops if loop.size > 1] or [single.pop()]
    schedule.reorder(*single, *running)
    count, shape = _grid([loop.size for loop in reversed(running)], target)
    kept = running[len(running) - count + 1 :]
    axes = [fuse_all(running[: len(running) - count + 1]), *kept]
    names = [("group", "item")] if count == 1 else [(f"group_{a}", f"item_{a}") for a in "xyz"]
    groups: list[tir.ForOp] = []
    items: list[tir.ForOp] = []
    for loop, size, pair in zip(reversed(axes), shape, names, strict=False):
        group, item = schedule.split(loop, size, pair, overlap=True)
        groups.insert(0, group)
        items.insert(0, item)
    schedule.reorder(*groups, *items)
    for nest, kinds in ((groups, _GROUPS), (items, _ITEMS)):
        for loop, kind in zip(nest, reversed(kinds[: len(nest)]), strict=True):
            schedule.bind(loop, kind)
    return items[-1]


def _grid(sizes: Sequence[int], target: cl.Target) -> tuple[int, tuple[int, ...]]:
    """How many axes there are for loops of some sizes, x first, and the shape of a group."""
    found: list[tuple[float, int, tuple[int, ...]]] = []
    for count in range(1, min(3, len(sizes)) + 1):
        extents = [*sizes[: count - 1], prod(sizes[count - 1 :])]
        shape = group_shape(extents, target)
        groups = [-(-n // size) for n, size in zip(extents, shape, strict=True)]
        if all(group <= _MOST_GROUPS for group in groups[1:]):
            cost = 1 + _DIVISION * (len(sizes) > count)
            found.append((_share_of_use(extents, shape, target) / cost, count, shape))
    _, count, shape = max(found)
    return count, shape


def group_shape(extents: Sequence[int], target: cl.Target) -> tuple[int, ...]:
    """The work-items of a group along each axis: few are idle, few compute what others do, too.

    Of equally good shapes the one whose items are neighbours in x, then in y.
    """
    wanted = min(target.preferred_work_group, target.max_work_group_size)
    if prod(extents) <= wanted and all(extent <= _MOST_DEEP for extent in extents[2:]):
        return tuple(extents)
    most = min(wanted + wanted // _SPARE, target.max_work_group_size)
    shapes = [
        shape
        for shape in product(*(_chunks(extent, most) for extent in extents))
        if wanted // 2 <= prod(shape) <= most and all(size <= _MOST_DEEP for size in shape[2:])
    ]
    return max(shapes, key=lambda shape: (_share_of_use(extents, shape, target), shape))


def _chunks(extent: int, most: int) -> list[int]:
    """Sizes into which an axis can be cut: its divisors, powers of two, itself."""
    return [
        size
        for size in range(1, min(extent, most) + 1)
        if extent % size == 0 or size & (size - 1) == 0
    ]


def _share_of_use(extents: Sequence[int], shape: Sequence[int], target: cl.Target) -> float:
    """Which share of the lanes computes something that no other does."""
    wanted = min(target.preferred_work_group, target.max_work_group_size, prod(extents))
    items = prod(shape)
    covered = prod(-(-n // size) * size for n, size in zip(extents, shape, strict=True))
    wave = max(wanted // 2, 1)
    busy = items / (-(-items // wave) * wave)
    return round(prod(extents) / covered * busy * min(1.0, items / wanted), 3)
