"""The lines of a graph beside a list: from the row that writes a value to the rows that read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """A line in a row; `source` is the row that it starts from."""

    lane: int
    source: int
    begins: bool = False
    """It begins in this row, at the node."""
    ends: bool = False
    """This row is its last."""
    is_read: bool = False
    """It meets the node of this row."""


@dataclass(frozen=True)
class Lanes:
    """The part of the graph beside one row."""

    node: int
    """The lane of its node."""
    lines: tuple[Line, ...]


def lanes_of(reads: Sequence[Sequence[int]]) -> list[Lanes]:
    """Return the lanes of rows, each of which reads the results of earlier ones.

    A row continues the leftmost line that ends in it, so that a chain is one straight line.
    """
    last = [-1] * len(reads)
    for row, sources in enumerate(reads):
        for source in sources:
            last[source] = row
    active: dict[int, int] = {}  # lane: source
    found: list[Lanes] = []
    for row, sources in enumerate(reads):
        lines: list[Line] = []
        for lane, source in sorted(active.items()):
            lines.append(
                Line(lane, source, ends=last[source] == row, is_read=source in set(sources))
            )
        ending = [line.lane for line in lines if line.ends]
        active = {lane: source for lane, source in active.items() if last[source] != row}
        met = [line.lane for line in lines if line.is_read]
        free = next(lane for lane in range(len(active) + 1) if lane not in active)
        goes_on = last[row] >= 0
        node = ending[0] if ending else met[0] if met and not goes_on else free
        if goes_on:
            active[node] = row
            lines.append(Line(node, row, begins=True))
        found.append(Lanes(node, tuple(lines)))
    return found
