"""Work-items for the iterations of a nest: a grid of up to three axes without divisions or guards.

An index with its own coordinate is free. Dividing an index out of a fused loop takes a dozen
instructions per work-item, which is noticeable in short kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product, zip_longest
from math import prod
from random import Random
from typing import cast

from .....dialects import cl, tir
from ...schedule import Schedule

_MOST_GROUPS = 65535
"""Groups of a launch along y and z: the limit of CUDA devices, which OpenCL does not report."""
_MOST_DEPTH = 64
"""Work-items of a group along z: the limit of CUDA devices, too."""
_DIVISION = 0.15
"""Share of a short kernel's work that dividing an index takes: a dozen instructions (a guess)."""

_SPARE = 4
"""Inverse of the share by which a group may exceed the preferred size: a quarter."""

_DRAWS = 100
"""Random shapes that are tried before all shapes are listed."""

_GROUPS = (tir.LoopKind.GroupX, tir.LoopKind.GroupY, tir.LoopKind.GroupZ)
_ITEMS = (tir.LoopKind.LocalX, tir.LoopKind.LocalY, tir.LoopKind.LocalZ)


Shape = tuple[int, ...]
"""The work-items of a group along x, y and z; as many axes as a grid has."""


def bind_items(schedule: Schedule, loops: Sequence[tir.ForOp], shape: Shape) -> tir.ForOp:
    """Run one work-item for each iteration of directly nested loops, outermost first.

    The last loop is x, the one before it y, the others together the last axis of `shape`. The last
    group of an axis starts early enough to end with the axis, so that none needs a guard. Returns
    the innermost loop.
    """
    single = [loop for loop in loops if loop.size == 1]
    running = [loop for loop in loops if loop.size > 1] or [single.pop()]
    schedule.reorder(*single, *running)
    count = len(shape)
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


@dataclass(frozen=True)
class Shapes:
    """The groups that a nest of some sizes, outermost first, can have beside `others`."""

    sizes: Sequence[int]
    target: cl.Target
    others: Shape = ()
    slots: float = 0.0
    """Issue slots of a work-item, of which a division is a share; 0 if they are not known."""

    def __contains__(self, value: object) -> bool:
        """Return whether the groups fit into the axes and the device takes them all."""
        if not isinstance(value, tuple):
            return False
        shape = cast(Shape, value)
        if not 1 <= len(shape) <= self._axes:
            return False
        extents = self._extents(len(shape))
        return (
            all(1 <= size <= n for size, n in zip(shape, extents, strict=True))
            and _fits(shape, self.target, self.others)
            and _are_few_groups(extents, shape, self.target)
        )

    def __iter__(self) -> Iterator[Shape]:
        for count in range(1, self._axes + 1):
            chunks = (
                _chunks(n, self.target.device.max_work_group_size) for n in self._extents(count)
            )
            yield from (shape for shape in product(*chunks) if shape in self)

    def sample(self, rng: Random) -> Shape | None:
        """Return one of the shapes that iteration gives, each as likely as the others."""
        most = self.target.device.max_work_group_size
        axes = [
            [_chunks(n, most) for n in self._extents(count)] for count in range(1, self._axes + 1)
        ]
        sizes = [prod(map(len, chunks)) for chunks in axes]
        for _ in range(_DRAWS):
            (chunks,) = rng.choices(axes, sizes)
            shape = tuple(map(rng.choice, chunks))
            if shape in self:
                return shape
        found = list(self)
        return rng.choice(found) if found else None

    def __str__(self) -> str:
        extents = " x ".join(str(n) for n in self._extents(self._axes))
        most = self.target.device.max_work_group_size
        return f"one to {self._axes} sizes of groups of up to {most} work-items in {extents}"

    @property
    def _axes(self) -> int:
        return min(3, len(self._running))

    @property
    def _running(self) -> list[int]:
        return [size for size in reversed(self.sizes) if size > 1] or [1]

    def _extents(self, count: int) -> list[int]:
        """Return the extents of `count` axes, x first."""
        return [*self._running[: count - 1], prod(self._running[count - 1 :])]

    def best(self) -> Shape:
        """Return the shape that leaves the least idle, counting divisions and other nests."""
        return _grid(self._running, self.target, self.others, self.slots)

    def use(self) -> float:
        """Return the share of lanes that compute something in groups of the best shape."""
        shape = self.best()
        extents = self._extents(len(shape))
        lanes = _lanes(prod(shape), extents, self.target)
        waves = min(1.0, lanes / _wanted(extents, self.target))
        return _share_of_lanes(extents, shape, self.target) * waves


def together(shape: Sequence[int], others: Sequence[int]) -> Shape:
    """Return the groups that serve two nests of one kernel."""
    return tuple(max(sizes) for sizes in zip_longest(shape, others, fillvalue=1))


def _grid(sizes: Sequence[int], target: cl.Target, others: Sequence[int], slots: float) -> Shape:
    """Return a group for loops of some sizes, x first, with as many axes as the grid has."""
    found: list[tuple[float, int, tuple[int, ...]]] = []
    for count in range(1, min(3, len(sizes)) + 1):
        extents = [*sizes[: count - 1], prod(sizes[count - 1 :])]
        shape = group_shape(extents, target, others)
        if _are_few_groups(extents, shape, target):
            cost = 1 + _cost_of_divisions(len(sizes) - count, target, slots)
            use = _share_of_use(extents, shape, target) * _share_together(shape, others)
            found.append((use / cost, count, shape))
    return max(found)[-1]


def _cost_of_divisions(count: int, target: cl.Target, slots: float) -> float:
    """Return the relative cost of dividing the indices of `count` loops out of a fused one."""
    if count == 0:
        return 0.0
    cost = _DIVISION + target.machine.further_division_cost * (count - 1)
    counted = target.machine.item_slots
    return min(cost, count * counted / slots) if counted and slots else cost


def group_shape(
    extents: Sequence[int], target: cl.Target, others: Sequence[int] = ()
) -> tuple[int, ...]:
    """Return the work-items of a group along each axis, so that few are idle or repeat others.

    `others` are the groups of other nests of the kernel. Ties go to the shape whose items are
    neighbours in x, then in y.
    """
    wanted = min(target.machine.preferred_work_group, target.device.max_work_group_size)
    whole = tuple(extents)
    if prod(extents) <= wanted and _fits(whole, target, others):
        return whole
    most = min(wanted + wanted // _SPARE, target.device.max_work_group_size)
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


def _are_few_groups(extents: Sequence[int], shape: Sequence[int], target: cl.Target) -> bool:
    groups = [-(-n // size) for n, size in zip(extents, shape, strict=True)]
    return all(group <= _MOST_GROUPS for group in groups[1:])


def _fits(shape: Sequence[int], target: cl.Target, others: Sequence[int]) -> bool:
    return _together(shape, others) <= target.device.max_work_group_size and all(
        size <= _MOST_DEPTH for size in shape[2:]
    )


def _together(shape: Sequence[int], others: Sequence[int]) -> int:
    """Return the work-items of a group that serves nests of two shapes."""
    return prod(together(shape, others))


def _share_together(shape: Sequence[int], others: Sequence[int]) -> float:
    """Return the share of such a group that the larger of the two nests keeps busy."""
    return max(prod(shape), prod(others)) / _together(shape, others)


@lru_cache(1024)
def _chunks(extent: int, most: int) -> tuple[int, ...]:
    """Return the sizes into which an axis can be cut: its divisors and powers of two."""
    return tuple(
        size
        for size in range(1, min(extent, most) + 1)
        if extent % size == 0 or size & (size - 1) == 0
    )


def _share_of_use(extents: Sequence[int], shape: Sequence[int], target: cl.Target) -> float:
    """Return the share of the lanes that computes something that no other lane computes."""
    wanted = _wanted(extents, target)
    return round(_share_of_lanes(extents, shape, target) * min(1.0, prod(shape) / wanted), 3)


def _share_of_lanes(extents: Sequence[int], shape: Sequence[int], target: cl.Target) -> float:
    """Return the same, however few waves a group has."""
    items = prod(shape)
    covered = prod(-(-n // size) * size for n, size in zip(extents, shape, strict=True))
    return prod(extents) / covered * items / _lanes(items, extents, target)


def _lanes(items: int, extents: Sequence[int], target: cl.Target) -> int:
    """Return the lanes of the waves that the work-items of a group take."""
    wave = max(_wanted(extents, target) // 2, 1)
    return -(-items // wave) * wave


def _wanted(extents: Sequence[int], target: cl.Target) -> int:
    return min(
        target.machine.preferred_work_group, target.device.max_work_group_size, prod(extents)
    )
