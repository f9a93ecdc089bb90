"""Tensors as boxes over sections of time, for a search that stacks them from the bottom up."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np
from numpy.typing import NDArray

from .tensors import LiveTensor, align

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Box:
    """One tensor, or several of equal size that follow one another, at one offset."""

    first: int
    last: int
    size: int
    """Size in units."""
    members: tuple[int, ...]


@dataclass(frozen=True)
class Boxes:
    """The boxes to be stacked over the sections 0 to `len(totals) - 1`.

    A section is a span of commands in which a maximal set of tensors is live; two tensors are live
    at once exactly if they share a section. Box `i` covers the sections from `begin[i]` up to
    `end[i]`. Sizes are in units of `unit` bytes, and all offsets are multiples of it.
    """

    tensors: int
    """The number of tensors, including empty ones."""
    boxes: tuple[Box, ...]
    unit: int
    begin: Ints
    end: Ints
    sizes: Ints
    totals: Ints
    """The units that are live in each section."""

    @property
    def least(self) -> int:
        """Return a lower bound in bytes for any stack."""
        return int(self.totals.max()) * self.unit

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of boxes and sections."""
        return len(self.boxes), len(self.totals)

    def offsets(self, of_boxes: Sequence[int]) -> list[int]:
        """Return the offsets of all tensors in bytes, given those of boxes in units; 0 if empty."""
        offsets = [0] * self.tensors
        for box, offset in zip(self.boxes, of_boxes, strict=True):
            for i in box.members:
                offsets[i] = offset * self.unit
        return offsets


def boxes_of(tensors: Sequence[LiveTensor], chained: bool) -> Boxes:
    """Return the boxes for the tensors that are not empty.

    With `chained`, tensors of equal size that follow one another form one box. All boxes have the
    largest alignment, so that a stack of them is a plan.
    """
    alignment = max(tensor.alignment for tensor in tensors)
    rounded = [align(tensor.size, alignment) for tensor in tensors]
    unit = gcd(*rounded)
    boxes = [
        Box(t.first, t.last, size // unit, (i,))
        for i, (t, size) in enumerate(zip(tensors, rounded, strict=True))
        if size
    ]
    while True:
        begin, end = _sections(boxes)
        longer = _chain(boxes, begin, end) if chained else boxes
        if len(longer) == len(boxes):
            break
        boxes = longer
    sizes = np.array([box.size for box in boxes], np.int64)
    changes = np.zeros(int(end.max()) + 1, np.int64)
    np.add.at(changes, begin, sizes)
    np.add.at(changes, end, -sizes)
    return Boxes(len(tensors), tuple(boxes), unit, begin, end, sizes, np.cumsum(changes)[:-1])


def _sections(boxes: Sequence[Box]) -> tuple[Ints, Ints]:
    """Return the first section of each box, and the section after its last.

    A section starts at the last start of a box before another box ends.
    """
    firsts = {box.first for box in boxes}
    ends = {box.last + 1 for box in boxes}
    starts: list[int] = []
    opened: int | None = None
    for command in sorted(firsts | ends):
        if command in ends and opened is not None:
            starts.append(opened)
            opened = None
        if command in firsts:
            opened = command
    begin = [bisect_left(starts, box.first) for box in boxes]
    end = [bisect_left(starts, box.last + 1) for box in boxes]
    return np.array(begin, np.int64), np.array(end, np.int64)


def _chain(boxes: Sequence[Box], begin: Ints, end: Ints) -> list[Box]:
    """Join each box with a box of equal size that begins in the section after its last."""
    beginning: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for i in reversed(range(len(boxes))):
        beginning[int(begin[i]), boxes[i].size].append(i)
    joined: set[int] = set()
    result: list[Box] = []
    for i in sorted(range(len(boxes)), key=lambda i: (int(begin[i]), i)):
        if i in joined:
            continue
        box, at = boxes[i], i
        members = [*box.members]
        while successors := beginning[int(end[at]), box.size]:
            at = successors.pop()
            joined.add(at)
            members += boxes[at].members
        result.append(Box(box.first, boxes[at].last, box.size, tuple(members)))
    return result
