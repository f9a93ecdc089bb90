"""Sets of bytes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class ByteSet:
    """Bytes of one memory, as disjoint ranges in rising order; ranges that touch are merged."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []

    def add(self, begin: int, end: int) -> None:
        """Add the bytes [begin, end)."""
        if begin == end:
            return
        at, behind = bisect_left(self._ends, begin), bisect_right(self._begins, end)
        if at < behind:  # the ranges that the new one touches
            begin, end = min(begin, self._begins[at]), max(end, self._ends[behind - 1])
        self._begins[at:behind] = [begin]
        self._ends[at:behind] = [end]

    def first_missing(self, begin: int, end: int) -> tuple[int, int] | None:
        """The first range of [begin, end) outside of the set; None if the set holds all of it."""
        following = bisect_right(self._begins, begin)
        if following and self._ends[following - 1] > begin:
            begin = self._ends[following - 1]
        if begin >= end:
            return None
        if following < len(self._begins):
            end = min(end, self._begins[following])
        return begin, end
