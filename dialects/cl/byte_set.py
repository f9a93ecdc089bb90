"""Sets of bytes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class ByteSet:
    """Bytes of one memory, as disjoint ranges in ascending order; adjacent ranges are merged."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []

    def add(self, begin: int, end: int) -> None:
        """Add the bytes [begin, end)."""
        if begin == end:
            return
        at, behind = bisect_left(self._ends, begin), bisect_right(self._begins, end)
        if at < behind:  # merge with ranges that overlap or adjoin
            begin, end = min(begin, self._begins[at]), max(end, self._ends[behind - 1])
        self._begins[at:behind] = [begin]
        self._ends[at:behind] = [end]

    def first_missing(self, begin: int, end: int) -> tuple[int, int] | None:
        """Return the first range of [begin, end) outside the set, or None if there is none."""
        following = bisect_right(self._begins, begin)
        if following and self._ends[following - 1] > begin:
            begin = self._ends[following - 1]
        if begin >= end:
            return None
        if following < len(self._begins):
            end = min(end, self._begins[following])
        return begin, end
