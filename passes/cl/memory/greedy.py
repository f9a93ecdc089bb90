"""Greedy planning: places tensors one by one into gaps between the tensors already placed.

The algorithm is "Greedy by size for offset calculation" of Pisarchyk and Lee, Efficient Memory
Management for Deep Neural Net Inference (arXiv:2001.03288), run with several orders and two ways to
choose the gap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .tensors import LiveTensor, align

PAIRS_PER_TENSOR = 48
"""The average number of neighbors per tensor above which arrays are faster than lists."""


class Packing(NamedTuple):
    """Offsets and arena numbers of all tensors, and the bytes of each arena."""

    offsets: list[int]
    arenas: list[int]
    sizes: list[int]


Order = Callable[[Sequence[LiveTensor]], list[int]]


def by_size(tensors: Sequence[LiveTensor]) -> list[int]:
    """Order by decreasing size, then by decreasing lifetime."""
    return _sorted(tensors, lambda t: (-t.size, t.first - t.last, t.first))


def by_area(tensors: Sequence[LiveTensor]) -> list[int]:
    """Order by decreasing product of size and lifetime."""
    return _sorted(tensors, lambda t: (-t.size * (t.last - t.first + 1), -t.size, t.first))


def by_life(tensors: Sequence[LiveTensor]) -> list[int]:
    """Order by decreasing lifetime, then by decreasing size."""
    return _sorted(tensors, lambda t: (t.first - t.last, -t.size, t.first))


def by_start(tensors: Sequence[LiveTensor]) -> list[int]:
    """Order by first command, then by decreasing lifetime."""
    return _sorted(tensors, lambda t: (t.first, -t.last, -t.size))


def by_breadth(tensors: Sequence[LiveTensor]) -> list[int]:
    """Order by decreasing peak of live bytes during the lifetime, then by decreasing size."""
    if not tensors:
        return []
    times = np.unique([t.first for t in tensors])
    begin = np.searchsorted(times, [t.first for t in tensors])
    end = np.searchsorted(times, [t.last for t in tensors], "right")
    changes = np.zeros(len(times) + 1, np.int64)
    sizes = np.array([t.size for t in tensors], np.int64)
    np.add.at(changes, begin, sizes)
    np.add.at(changes, end, -sizes)
    # The peak of live bytes within each lifetime, from a sparse table of maxima over powers of two.
    tables = [np.cumsum(changes)]
    while 2 ** len(tables) <= len(times):
        half = 2 ** (len(tables) - 1)
        tables.append(np.maximum(tables[-1][:-half], tables[-1][half:]))
    level = [int(n).bit_length() - 1 for n in end - begin]
    breadth = [
        int(max(tables[k][b], tables[k][e - 2**k]))
        for k, b, e in zip(level, begin, end, strict=True)
    ]
    return sorted(
        range(len(tensors)), key=lambda i: (-breadth[i], -tensors[i].size, tensors[i].first, i)
    )


ORDERS: dict[str, Order] = {
    "size": by_size,
    "start": by_start,
    "breadth": by_breadth,
    "area": by_area,
    "life": by_life,
}


def _sorted(
    tensors: Sequence[LiveTensor], key: Callable[[LiveTensor], tuple[int, ...]]
) -> list[int]:
    return sorted(range(len(tensors)), key=lambda i: key(tensors[i]))


class Placer:
    """Places the same tensors in different orders.

    Its run time is proportional to the number of pairs of tensors that are live at once.
    """

    def __init__(self, tensors: Sequence[LiveTensor]) -> None:
        self.tensors = tensors
        self.neighbours = neighbours(tensors) if pairs(tensors) <= self._list_limit else None

    @property
    def _list_limit(self) -> int:
        return PAIRS_PER_TENSOR * len(self.tensors)

    def place(
        self, order: Iterable[int], capacity: int | None = None, tightest: bool = False
    ) -> Packing:
        """Place each tensor into the lowest gap that fits it, or into the smallest if `tightest`.

        A tensor that would end above `capacity` bytes goes to the next arena.
        """
        if self.neighbours is None:
            return self._place_by_arrays(order, capacity, tightest)
        return self._place_by_lists(order, self.neighbours, capacity, tightest)

    def _place_by_lists(
        self,
        order: Iterable[int],
        neighbours: list[list[int]],
        capacity: int | None,
        tightest: bool,
    ) -> Packing:
        tensors = self.tensors
        offsets, arenas, sizes = [0] * len(tensors), [-1] * len(tensors), [0]
        for i in order:
            tensor = tensors[i]
            arena = 0
            while True:
                taken = sorted(
                    (offsets[j], offsets[j] + tensors[j].size)
                    for j in neighbours[i]
                    if arenas[j] == arena
                )
                offset = gap(taken, tensor, tightest)
                if capacity is None or offset + tensor.size <= capacity:
                    break
                arena += 1
            if arena == len(sizes):
                sizes.append(0)
            offsets[i], arenas[i] = offset, arena
            sizes[arena] = max(sizes[arena], offset + tensor.size)
        return Packing(offsets, arenas, sizes)

    def _place_by_arrays(
        self, order: Iterable[int], capacity: int | None, tightest: bool
    ) -> Packing:
        offsets, arenas = [0] * len(self.tensors), [0] * len(self.tensors)
        shelves = [_Shelf(len(self.tensors))]
        for i in order:
            tensor = self.tensors[i]
            for arena, shelf in enumerate(shelves):
                offset = shelf.gap(tensor, tightest)
                if capacity is None or offset + tensor.size <= capacity:
                    break
            else:
                arena, offset = len(shelves), 0
                shelves.append(_Shelf(len(self.tensors)))
            shelves[arena].put(tensor, offset)
            offsets[i], arenas[i] = offset, arena
        return Packing(offsets, arenas, [shelf.size for shelf in shelves])


def gap(taken: Iterable[tuple[int, int]], tensor: LiveTensor, tightest: bool) -> int:
    """Return the lowest offset between the intervals `taken` that fits, or the `tightest`.

    `taken` lists pairs (offset, end) in bytes, sorted by offset.
    """
    at, best, least = 0, None, 0
    for offset, end in taken:
        room = offset - at
        if room >= tensor.size and (best is None or room < least):
            if not tightest:
                return at
            best, least = at, room
        if end > at:
            at = align(end, tensor.alignment)
    return at if best is None else best


class _Shelf:
    """The tensors of one arena in arrays, sorted by offset: offset, end, first, last."""

    def __init__(self, capacity: int) -> None:
        self._rows: NDArray[np.int64] = np.empty((4, capacity), np.int64)
        self._count = 0
        self.size = 0

    def gap(self, tensor: LiveTensor, tightest: bool) -> int:
        offsets, ends, firsts, lasts = self._rows[:, : self._count]
        meets = np.flatnonzero((firsts <= tensor.last) & (lasts >= tensor.first))
        if not len(meets):
            return 0
        starts = np.zeros(len(meets) + 1, np.int64)
        np.maximum.accumulate(ends[meets], out=starts[1:])
        if tensor.alignment > 1:
            starts += -starts % tensor.alignment
        rooms = offsets[meets] - starts[:-1]
        fits = np.flatnonzero(rooms >= tensor.size)
        if not len(fits):
            return int(starts[-1])
        return int(starts[fits[rooms[fits].argmin()] if tightest else fits[0]])

    def put(self, tensor: LiveTensor, offset: int) -> None:
        n = self._count
        at = int(np.searchsorted(self._rows[0, :n], offset))
        self._rows[:, at + 1 : n + 1] = self._rows[:, at:n]
        self._rows[:, at] = offset, offset + tensor.size, tensor.first, tensor.last
        self._count += 1
        self.size = max(self.size, offset + tensor.size)


def pairs(tensors: Sequence[LiveTensor]) -> int:
    """Return the number of pairs of tensors that are live at once."""
    n = len(tensors)
    before = np.searchsorted(np.sort([t.last for t in tensors]), [t.first for t in tensors])
    return n * (n - 1) // 2 - int(before.sum())


def neighbours(tensors: Sequence[LiveTensor]) -> list[list[int]]:
    """Return for each tensor the indices of the tensors that are live at the same time."""
    result: list[list[int]] = [[] for _ in tensors]
    live: list[int] = []
    for i in sorted(range(len(tensors)), key=lambda i: tensors[i].first):
        live = [j for j in live if tensors[j].last >= tensors[i].first]
        result[i] += live
        for j in live:
            result[j].append(i)
        live.append(i)
    return result
