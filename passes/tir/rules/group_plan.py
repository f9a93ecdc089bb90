"""How many work-items of a GPU share a row of a reduction, and how many rows a group takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType

from ....dialects import cl
from ....dialects.tir import TEXEL
from ..schedule.analysis import memref_of, written
from ..schedule.combine import can_combine
from .row_structure import Rows, rows_of
from .stages import Stage

FAN_IN = 4
"""Partial results that a work-item combines between two barriers."""
_MOST_STRIDE = 4
"""Steps between the windows of neighbouring results of a convolution that share cache lines."""


@dataclass(frozen=True)
class Plan:
    """How the rows of a kernel are shared by the work-items of its groups."""

    rows: Rows
    lanes: int
    """Work-items for a row."""
    along: int | None
    """The variable of the output in which the rows of a group differ."""
    members: int
    """How many rows a group takes, rows that differ in the lane of a texel counted once."""
    columns: bool
    """Whether neighbouring work-items take neighbouring rows, and not parts of one."""
    texel: int | None
    """The variable of the output that walks the lanes of texels; each work-item takes all four."""
    fan_in: int = FAN_IN
    """Partial results that a work-item combines between two barriers."""

    @property
    def of_texels(self) -> bool:
        """Whether the four lanes of a texel are rows of their own."""
        return self.texel is not None and self.rows.divisors.get(self.texel) == 1


@dataclass(frozen=True)
class Sharing:
    """What there is to decide on: rows, and how many work-items can share them."""

    bare: Plan
    """The plan in which nothing is shared."""
    column: int | None
    """The variable of the output whose neighbours are neighbours in memory; None for none."""
    length: int
    """Steps of the shortest reduction of a row, those that share a texel counted once."""
    most: int
    """Work-items of a group at the most."""
    shares_loads: bool
    """Whether results share what they read, so that a tile of them would read less."""
    target: cl.Target

    @property
    def most_lanes(self) -> int:
        """A row's work-items have two steps each, and are a power of two."""
        return 1 << (max(min(self.length // 2, self.most), 1).bit_length() - 1)

    def extent(self, variable: int) -> int:
        """How many rows differ in a variable, those of a texel counted once."""
        return _extent(self.bare, variable)

    @property
    def _least(self) -> int:
        """Work-items of a group at the least."""
        return min(self.target.shared_work_group, self.most)

    @property
    def _line(self) -> int:
        """Work-items that read a cache line of floats together."""
        return self.target.cache_line_bytes // 4

    def default(self) -> Plan | None:
        """The plan for the target; None where one work-item for each result does as well."""
        return self._rows() if self.column is None else self._columns(self.column)

    def _rows(self) -> Plan | None:
        bare, rows = self.bare, self.bare.rows
        lanes = _lanes(_count(bare), self.length, self.target, self._line, self.most)
        if lanes < FAN_IN:
            return None
        along = max(rows.divisors, key=lambda v: _extent(bare, v), default=None)
        extent = 1 if along is None else _extent(bare, along)
        members = _even(extent, max(1, self._least // lanes))
        return replace(bare, lanes=lanes, along=along, members=members)

    def _columns(self, column: int) -> Plan | None:
        bare, most = self.bare, self.most
        members = min(self.target.coalesced_items, most)
        while members > 8 and _count(bare) < members * self.target.compute_units:
            members //= 2
        extent = _extent(bare, column)
        members = _even(extent, members)
        lanes = _lanes(_count(bare), self.length, self.target, 1, most // members)
        if lanes < FAN_IN:
            return None
        members = max(members, _even(extent, max(1, self._least // lanes)))
        return replace(bare, lanes=lanes, along=column, members=members, columns=True)


def bare_plan(stages: Sequence[Stage], output: Stage, rows: Rows) -> Plan:
    """The plan in which nothing is shared."""
    return Plan(rows, 1, None, 1, columns=False, texel=_texel_variable(stages, output, rows))


def rows_to_share(stages: Sequence[Stage], output: Stage, target: cl.Target) -> Sharing | str:
    """What there is to decide for a kernel of reductions, or why nothing is."""
    rows = rows_of(stages, output)
    reductions = [stage for stage in stages if stage.reduce]
    if rows is None or rows.count == 0 or not reductions:
        return "its reductions do not all compute one value for each row"
    if not all(_can_share(stage, rows) for stage in reductions):
        return "partial results of its reductions cannot be combined"
    stage = min(reductions, key=_length)
    bare = bare_plan(stages, output, rows)
    if bare.texel is not None and rows.divisors.get(bare.texel, 1) % TEXEL not in (0, 1):
        return "the channels of a texel belong to several groups"
    # A sum of a million elements takes 27 us so, and 47 us in smaller groups (measured on an H200).
    most = (2 if rows.count < target.compute_units else 1) * target.large_work_group
    most = min(most, target.max_work_group_size)
    most = min(most, target.local_memory_bytes // _local_bytes(reductions, bare))
    if most < FAN_IN:
        return "a group has no memory for partial results"
    shares = not all(_whole_loads(reduction) for reduction in reductions)
    return Sharing(bare, _column(stage, bare), _length(stage), most, shares, target)


def _lanes(rows: int, length: int, target: cl.Target, least: int, most: int) -> int:
    """Work-items for a row, a power of two: enough for the device, two elements for each."""
    if length < target.barrier_steps:
        return 1
    wanted = max(target.compute_units * target.items_per_unit // rows, least)
    limit = max(min(wanted, length // 2, most), 1)
    return 1 << (limit.bit_length() - 1)


def _even(extent: int, size: int) -> int:
    """The size of the equal chunks, of up to `size` each, that an extent takes."""
    chunks = -(-extent // size)
    return -(-extent // chunks)


def _extent(plan: Plan, variable: int) -> int:
    """How many rows differ in a variable, those of a texel counted once."""
    extent = plan.rows.extent(variable)
    return extent // TEXEL if variable == plan.texel and plan.of_texels else extent


def _count(plan: Plan) -> int:
    return prod(_extent(plan, variable) for variable in plan.rows.divisors)


def _length(stage: Stage) -> int:
    """How many steps a row is, the four that share a texel counted once."""
    extents, channels = stage.block.iter_extents, stage.reduce_lane
    steps = prod(extents[i] for i in stage.reduce)
    if channels is None or not stage.takes_texels:
        return steps
    return steps // extents[channels] * -(-extents[channels] // TEXEL)


def _local_bytes(stages: Sequence[Stage], plan: Plan) -> int:
    """Local memory that a work-item takes; all levels of a tree hold less than two lanes do."""
    types = (memref_of(b).element_type for stage in stages for b in written(stage.block))
    lane = sum(cast(FixedBitwidthType, type_).size for type_ in types)
    return 2 * lane * (TEXEL if plan.of_texels else 1)


def _can_share(stage: Stage, rows: Rows) -> bool:
    """Whether partial results of the stage can be combined, and every row needs it."""
    if not can_combine(stage.block):
        return False
    mine = set(rows.of[stage.block].values())
    return all(rows.extent(variable) == 1 or variable in mine for variable in rows.divisors)


def _whole_loads(stage: Stage) -> list[list[int | None]]:
    """How the loads move that read another element for every row and step.

    They read each element once (or, in a window, close to the others that do): there is nothing for
    a tile of results to share.
    """
    stored = written(stage.block)
    extents = stage.block.iter_extents
    return [
        steps
        for op, steps in stage.strides.items()
        if op.memref not in stored
        and all(extents[i] == 1 or step != 0 for i, step in enumerate(steps))
    ]


def _texel_variable(stages: Sequence[Stage], output: Stage, rows: Rows) -> int | None:
    """The variable of the output that walks texels: of the output, or of what the stages read.

    Not one that walks only the four elements of a bias, say: its other accesses would be far apart.
    """
    found: list[int | None] = []
    position = output.lane
    (store,) = output.block.stores()
    if position is not None and output.strides[store][position] in (1, None):
        found.append(position)
    for stage in stages:
        position = stage.lane
        moves = _whole_loads(stage) or stage.strides.values()
        if position is not None and any(m[position] in (1, None) for m in moves):
            found.append(rows.of[stage.block].get(position))
    extents = output.block.iter_extents
    return next((v for v in found if v is not None and extents[v] % TEXEL == 0), None)


def _column(stage: Stage, plan: Plan) -> int | None:
    """The variable of the output whose neighbours are neighbours in memory; None for none."""
    texels = plan.of_texels or stage.reduce_lane is not None
    whole = _whole_loads(stage)
    units = {TEXEL if texels else 1} if whole else {1, TEXEL}
    near = {unit * n for unit in units for n in range(1, 2 if whole else _MOST_STRIDE + 1)}
    stored = written(stage.block)
    moves = whole or [steps for op, steps in stage.strides.items() if op.memref not in stored]
    for steps in moves:
        for position, variable in plan.rows.of[stage.block].items():
            neighbours = steps[position] in near
            if neighbours and variable != plan.texel and plan.rows.extent(variable) > 1:
                return variable
    return None
