"""Work-items for the iterations of a nest: a grid of up to three axes without divisions or guards.

An index that is a coordinate of its own costs nothing; one that is divided out of a fused loop
costs a work-item a dozen instructions, which short kernels notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product, zip_longest
from math import prod

from ....dialects import cl, tir
from ..schedule import Schedule

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


def bind_items(schedule: Schedule, loops: Sequence[tir.ForOp], target: cl.Target) -> tir.ForOp:
    """One work-item for each iteration of directly nested loops, outermost first.

    The last loop is x, the one before it y, the others together z; fewer axes where that leaves
    much less idle. The last group of an axis starts early enough to end with the axis, so that none
    needs a guard. Nests of one kernel share its work-groups: the shape for a later one minds those
    of the others. Returns the innermost loop.
    """
    single = [loop for loop in loops if loop.size == 1]
    running = [loop for loop in loops if loop.size > 1] or [single.pop()]
    schedule.reorder(*single, *running)
    others = _shape_of_groups(running[0])
    count, shape = _grid([loop.size for loop in reversed(running)], target, others)
    kept = running[len(running) - count + 1 :]
    axes = [schedule.fuse(*running[: len(running) - count + 1]), *kept]
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


def _shape_of_groups(loop: tir.ForOp) -> tuple[int, ...]:
    """How far along x, y, z the groups reach of what is bound already in the kernel of a loop."""
    kernel = loop.parent_op()
    while not isinstance(kernel, tir.FuncOp):
        assert kernel is not None, "loops are in kernels"
        kernel = kernel.parent_op()
    sizes = dict.fromkeys(_ITEMS, 1)
    for op in kernel.walk():
        if isinstance(op, tir.ForOp) and op.kind.data in sizes:
            sizes[op.kind.data] = max(sizes[op.kind.data], op.size)
    return tuple(sizes.values())


def _grid(
    sizes: Sequence[int], target: cl.Target, others: Sequence[int]
) -> tuple[int, tuple[int, ...]]:
    """How many axes there are for loops of some sizes, x first, and the shape of a group."""
    found: list[tuple[float, int, tuple[int, ...]]] = []
    for count in range(1, min(3, len(sizes)) + 1):
        extents = [*sizes[: count - 1], prod(sizes[count - 1 :])]
        shape = group_shape(extents, target, others)
        groups = [-(-n // size) for n, size in zip(extents, shape, strict=True)]
        if all(group <= _MOST_GROUPS for group in groups[1:]):
            cost = 1 + _DIVISION * (len(sizes) > count)
            use = _share_of_use(extents, shape, target) * _share_together(shape, others)
            found.append((use / cost, count, shape))
    _, count, shape = max(found)
    return count, shape


def group_shape(
    extents: Sequence[int], target: cl.Target, others: Sequence[int] = (1, 1, 1)
) -> tuple[int, ...]:
    """The work-items of a group along each axis: few are idle, few compute what others do, too.

    `others` is what the groups are for other nests of the kernel. Of equally good shapes the one
    whose items are neighbours in x, then in y.
    """
    wanted = min(target.preferred_work_group, target.max_work_group_size)
    whole = tuple(extents)
    if prod(extents) <= wanted and _fits(whole, target, others):
        return whole
    most = min(wanted + wanted // _SPARE, target.max_work_group_size)
    shapes = [
        shape
        for shape in product(*(_chunks(extent, most) for extent in extents))
        if prod(shape) <= most and _fits(shape, target, others)
    ]
    large = [shape for shape in shapes if wanted // 2 <= prod(shape)]

    def worth(shape: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        use = _share_of_use(extents, shape, target) * _share_together(shape, others)
        return round(use, 3), shape

    return max(large or shapes, key=worth)


def _fits(shape: Sequence[int], target: cl.Target, others: Sequence[int]) -> bool:
    return _together(shape, others) <= target.max_work_group_size and all(
        size <= _MOST_DEEP for size in shape[2:]
    )


def _together(shape: Sequence[int], others: Sequence[int]) -> int:
    """The work-items of a group that serves nests of two shapes."""
    return prod(max(sizes) for sizes in zip_longest(shape, others, fillvalue=1))


def _share_together(shape: Sequence[int], others: Sequence[int]) -> float:
    """Which share of such a group the larger of the two nests keeps busy."""
    return max(prod(shape), prod(others)) / _together(shape, others)


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
