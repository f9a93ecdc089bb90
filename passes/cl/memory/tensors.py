"""Input and output of the memory planner, and lower bounds on any plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np


@dataclass(frozen=True)
class LiveTensor:
    """Memory that is needed from one command to another.

    `size`: bytes. `first`, `last`: indices of commands in queue order, both inclusive, so that two
    tensors may share bytes if one's `last` is less than the other's `first`. `alignment`: bytes, a
    power of two that divides the offset.
    """

    size: int
    first: int
    last: int
    alignment: int = 1

    def __post_init__(self) -> None:
        if self.size < 0 or self.last < self.first:
            raise ValueError(f"a tensor of {self.size} bytes, from {self.first} to {self.last}")
        if self.alignment < 1 or self.alignment & (self.alignment - 1):
            raise ValueError(f"an alignment is a power of two, not {self.alignment}")

    def meets(self, other: LiveTensor) -> bool:
        """Whether some command needs both."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class ArenaPlan:
    """The place of each tensor: `offsets[i]` in arena `arenas[i]` for the i-th tensor."""

    offsets: tuple[int, ...]
    """Bytes from the start of the arena."""
    arenas: tuple[int, ...]
    sizes: tuple[int, ...]
    """Bytes of each arena; none without tensors."""
    lower_bound: int
    """The most bytes that are live at one command: no plan needs less (alignment not counted)."""
    method: str
    """The order or search that found it, for reports."""

    @property
    def bytes(self) -> int:
        """The bytes of all arenas together."""
        return sum(self.sizes)


def align(offset: int, alignment: int) -> int:
    """The next multiple of a power of two."""
    return -(-offset // alignment) * alignment


def lower_bound(tensors: Sequence[LiveTensor]) -> int:
    """The largest sum of bytes that are live at one command."""
    if not tensors:
        return 0
    times = np.array([[t.first, t.last + 1] for t in tensors]).ravel()
    changes = np.array([[t.size, -t.size] for t in tensors], np.int64).ravel()
    # At equal times dead tensors leave before new ones come.
    order = np.lexsort((changes, times))
    return int(np.cumsum(changes[order]).max())


def aligned_bound(tensors: Sequence[LiveTensor]) -> int:
    """Like `lower_bound`, plus the padding that alignment makes unavoidable.

    All offsets are multiples of the smallest alignment, so every live tensor except the topmost
    takes its size rounded up.
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
