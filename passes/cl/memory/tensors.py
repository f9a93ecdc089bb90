"""Input and output of the memory planner, and lower bounds for any plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np


@dataclass(frozen=True)
class LiveTensor:
    """Memory that is needed from one command to another.

    `size` is in bytes. `first` and `last` are indices of commands in queue order, both inclusive:
    two tensors may share bytes if the `last` of one is less than the `first` of the other.
    `alignment` is in bytes, a power of two that divides the offset.
    """

    size: int
    first: int
    last: int
    alignment: int = 1

    def __post_init__(self) -> None:
        if self.size < 0 or self.last < self.first:
            raise ValueError(
                f"size {self.size} must not be negative, nor "
                f"first {self.first} after last {self.last}"
            )
        if self.alignment < 1 or self.alignment & (self.alignment - 1):
            raise ValueError(f"the alignment must be a power of two, not {self.alignment}")

    def meets(self, other: LiveTensor) -> bool:
        """Return whether both tensors are live at a common command."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class ArenaPlan:
    """The placement of all tensors: tensor `i` is at `offsets[i]` of arena `arenas[i]`."""

    offsets: tuple[int, ...]
    """Bytes from the start of the arena."""
    arenas: tuple[int, ...]
    sizes: tuple[int, ...]
    """Bytes of each arena; empty without tensors."""
    lower_bound: int
    """The peak of live bytes, without alignment: no plan needs less."""
    method: str
    """The order or search that found the plan, for reports."""

    @property
    def bytes(self) -> int:
        """Return the total bytes of all arenas."""
        return sum(self.sizes)


def align(offset: int, alignment: int) -> int:
    """Round up to a multiple of a power of two."""
    return -(-offset // alignment) * alignment


def lower_bound(tensors: Sequence[LiveTensor]) -> int:
    """Return the peak of the bytes that are live at one command."""
    if not tensors:
        return 0
    times = np.array([[t.first, t.last + 1] for t in tensors]).ravel()
    changes = np.array([[t.size, -t.size] for t in tensors], np.int64).ravel()
    # At equal times, dead tensors are subtracted before new ones are added.
    order = np.lexsort((changes, times))
    return int(np.cumsum(changes[order]).max())


def aligned_bound(tensors: Sequence[LiveTensor]) -> int:
    """Return `lower_bound` plus the padding that alignment makes unavoidable.

    All offsets are multiples of the smallest alignment, so every live tensor except the topmost
    occupies its size rounded up.
    """
    unit = min((t.alignment for t in tensors), default=1)
    if unit == 1:
        return lower_bound(tensors)
    bound = live = 0
    ends: list[tuple[int, int]] = []
    padding: list[tuple[int, int]] = []  # (-bytes, last) of the live; the dead leave late
    for tensor in sorted(tensors, key=lambda t: t.first):
        while ends and ends[0][0] < tensor.first:
            live -= heappop(ends)[1]
        while padding and padding[0][1] < tensor.first:
            heappop(padding)
        rounded = align(tensor.size, unit)
        live += rounded
        heappush(ends, (tensor.last, rounded))
        heappush(padding, (tensor.size - rounded, tensor.last))
        bound = max(bound, live + padding[0][0])
    return bound
