"""The alternatives of least time that keep a program within a limit.

An integer program: a column for each option, a row for each command, whose live bytes must stay
below the limit, and a row for each site with several options. HiGHS solves it.

Values that use whole objects in turn form pools, each with a column for its freed objects. Images
outside of arenas have a pool for each shape. Without sub-buffers, buffers have a pool for each size
that occurs, whose objects are the bytes by which it exceeds the next smaller one: as many as larger
buffers are live at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from .memory_usage import MemoryUsage, Stored

if TYPE_CHECKING:
    from highspy import Highs

_UNIT = 1024.0
"""Bytes in a unit of the program's rows: HiGHS compares with absolute tolerances."""
_TIE = 1e-6
"""Microseconds by which each alternative is dearer than the one before it, to break ties."""
_OPTIONS = {
    "output_flag": False,
    "parallel": "off",
    "threads": 1,
    "mip_rel_gap": 0.0,
    # Nodes of the search, not seconds, so that every machine makes the same choice.
    "mip_max_nodes": 2000,
}


@dataclass(frozen=True)
class Option:
    """A change of one site, with the extra time that it takes."""

    site: object
    microseconds: float
    saved: Mapping[int, int]
    """The bytes that it saves at some commands. If it takes more there, they are negative."""
    leaving: frozenset[Stored] = frozenset()
    """Values that leave their pools."""
    entering: frozenset[Stored] = frozenset()
    """Values that enter pools."""


@dataclass(frozen=True)
class Selection:
    """The options to take, by number, and whether they suffice for the limit."""

    numbers: Sequence[int]
    is_within: bool


def cheapest(usage: MemoryUsage, options: Sequence[Option], limit: int) -> Selection:
    """Return the options that keep a program within a limit in the least time.

    At most one option of a site is taken. If no options suffice, those are taken that exceed the
    limit least.
    """
    if not options:
        return Selection((), usage.bytes <= limit)
    program = _IntegerProgram(usage, options)
    chosen = program.solve(limit)
    if chosen is not None:
        return Selection(chosen, True)
    # Exceed the limit as little as possible, then as fast as possible.
    chosen = program.solve(program.least_peak(limit))
    return Selection(chosen or (), False)


@dataclass(frozen=True)
class _Pool:
    """Values that use objects of one size in turn."""

    bytes: int
    stored: frozenset[Stored]
    """The values in the pool, and those that may enter it."""

    def changes(self, present: frozenset[Stored], options: Sequence[Option]) -> Iterator[_Change]:
        """Yield how many objects each command needs now, and how options change that."""
        seen: set[tuple[int, tuple[tuple[int, float], ...]]] = set()
        for time in sorted({value.first for value in self.stored}):
            live = {v for v in self.stored if v.first <= time <= v.last}
            change = {
                number: float(difference)
                for number, option in enumerate(options)
                if (difference := len(option.leaving & live) - len(option.entering & live))
            }
            count = len(live & present)
            key = count, tuple(change.items())
            if key not in seen:
                seen.add(key)
                yield count, change


_Change = tuple[int, dict[int, float]]


class _IntegerProgram:
    """The integer program of some options."""

    def __init__(self, usage: MemoryUsage, options: Sequence[Option]):
        self.live, self.options = usage.live, options
        self.present = frozenset(usage.stored)
        entering = (option.entering for option in options)
        self.pools = list(_pools(self.present.union(*entering)))
        costs = [each.microseconds + _TIE * i for i, each in enumerate(options)]
        self.costs = costs + [0.0] * len(self.pools)
        freed = {len(options) + i: pool.bytes / _UNIT for i, pool in enumerate(self.pools)}
        self.saved: list[dict[int, float]] = [dict(freed) for _ in self.live]
        """Units saved at each command, by column."""
        self.sites: defaultdict[object, list[int]] = defaultdict(list)
        for number, option in enumerate(options):
            self.sites[option.site].append(number)
            for command, saved in option.saved.items():
                self.saved[command][number] = saved / _UNIT

    def solve(self, limit: int) -> list[int] | None:
        """Return the options of least time within a limit, or None if there are none."""
        highs = self._highs(self.costs)
        for row in self._rows(limit):
            _require(highs, *row)
        return self._chosen(highs)

    def least_peak(self, limit: int) -> int:
        """Return the least peak above `limit` that some options reach."""
        highs = self._highs([0.0] * len(self.costs))
        peak = len(self.costs)
        highs.addCol(1.0, limit / _UNIT, max(self.live) / _UNIT, 0, [], [])
        for row, least in self._rows(0):
            _require(highs, row | {peak: 1.0}, least)
        self._chosen(highs)
        # A byte for the tolerance of HiGHS.
        return ceil(highs.getSolution().col_value[peak] * _UNIT) + 1

    def _rows(self, limit: int) -> list[tuple[dict[int, float], float]]:
        """Return the bytes saved at each command and those required; equal rows once."""
        most: dict[tuple[tuple[int, float], ...], float] = {}
        for saved, live in zip(self.saved, self.live, strict=True):
            key = tuple(saved.items())
            most[key] = max(most.get(key, -np.inf), (live - limit) / _UNIT)
        return [(dict(key), least) for key, least in most.items()]

    def _highs(self, costs: Sequence[float]) -> Highs:
        from highspy import Highs, HighsVarType

        highs = Highs()
        for name, value in _OPTIONS.items():
            highs.setOptionValue(name, value)
        count, whole = len(costs), len(self.options)
        starts = np.array([], np.int32)
        lower = np.concatenate([np.zeros(whole), np.full(len(self.pools), -np.inf)])
        upper = np.concatenate([np.ones(whole), np.full(len(self.pools), np.inf)])
        highs.addCols(count, np.array(costs), lower, upper, 0, starts, starts, np.array([], float))
        kinds = np.full(whole, int(HighsVarType.kInteger), np.uint8)
        highs.changeColsIntegrality(whole, np.arange(whole), kinds)
        for column, pool in enumerate(self.pools, whole):
            changes = list(pool.changes(self.present, self.options))
            objects = max((count for count, _ in changes), default=0)
            for count, change in changes:
                # Objects left are at least the values live at once.
                _require(highs, change | {column: -1.0}, count - objects)
        for numbers in self.sites.values():
            if len(numbers) > 1:
                _require(highs, dict.fromkeys(numbers, -1.0), -1.0)
        return highs

    def _chosen(self, highs: Highs) -> list[int] | None:
        highs.run()
        shares = highs.getSolution().col_value if highs.getInfo().primal_solution_status else []
        found = [i for i, share in enumerate(shares[: len(self.options)]) if share > 0.5]
        return found if len(shares) else None


def _pools(stored: frozenset[Stored]) -> Iterator[_Pool]:
    """Yield the pools of some values."""
    shapes: defaultdict[object, set[Stored]] = defaultdict(set)
    for value in stored:
        shapes[value.shape].add(value)
    buffers = shapes.pop(None, set())
    ordered = sorted(shapes.values(), key=lambda of: min((v.first, v.operation) for v in of))
    for values in ordered:
        yield _Pool(next(iter(values)).bytes, frozenset(values))
    before = 0
    for size in sorted({value.bytes for value in buffers}):
        yield _Pool(size - before, frozenset(v for v in buffers if v.bytes >= size))
        before = size


def _require(highs: Highs, row: dict[int, float], least: float) -> None:
    """Require a sum of columns to be at least a value."""
    if row or least > 0:
        columns, values = np.array([*row], np.int32), np.array([*row.values()])
        highs.addRow(least, np.inf, len(row), columns, values)
