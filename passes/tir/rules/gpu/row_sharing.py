"""How many work-items of a GPU share a row of a reduction, and how many rows a group takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType

from .....dialects import cl
from .....dialects.tir import TEXEL
from ...schedule.analysis import memref_of, written
from ...schedule.combine import can_combine
from ..naive_kernel import NaiveKernel
from ..shared.grid import LARGE_GROUP, SHARED_GROUP, WAVE
from ..shared.row_structure import Rows, rows_of
from ..space import NotApplicable
from ..stages import KernelStage

_ITEMS_PER_UNIT = 1024
"""Work-items that keep the memory of a compute unit busy: half of what NVIDIA's hold."""
_BARRIER_STEPS = 32
"""Steps of a reduction that are not worth a barrier (a guess)."""
_LINE_BYTES = 64
"""A line that neighbouring work-items read together: two of NVIDIA's sectors."""

FAN_IN = 4
"""Partial results that a work-item combines between two barriers."""
_MOST_STRIDE = 4
"""Steps between the windows of neighbouring results of a convolution that share cache lines."""


@dataclass(frozen=True)
class RowSharing:
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
        """Whether the four lanes of a texel are separate rows."""
        return self.texel is not None and self.rows.divisors.get(self.texel) == 1


@dataclass(frozen=True)
class SharedRows:
    """A kernel whose reductions all compute one value for each row, which work-items can share."""

    kernel: NaiveKernel
    bare: RowSharing
    """The sharing by one work-item for each row."""
    column: int | None
    """The variable of the output whose neighbours are adjacent in memory, or None."""
    length: int
    """Steps of the shortest reduction of a row, those that share a texel counted once."""
    lane_bytes: int
    """Local memory that a work-item takes."""
    shares_loads: bool
    """Whether results share what they read, so that a tile of them would read less."""

    @staticmethod
    def of(kernel: NaiveKernel) -> SharedRows | NotApplicable:
        """Return the rows of a kernel."""
        stages, output = kernel.producers, kernel.main
        rows = rows_of(stages, output)
        reductions = [stage for stage in stages if stage.reduce]
        if rows is None or rows.count == 0 or not reductions:
            return NotApplicable("its reductions do not all compute one value for each row")
        if not all(_can_share(stage, rows) for stage in reductions):
            return NotApplicable("partial results of its reductions cannot be combined")
        stage = min(reductions, key=_length)
        texel = _texel_variable(stages, output, rows)
        bare = RowSharing(rows, 1, None, 1, columns=False, texel=texel)
        if texel is not None and rows.divisors.get(texel, 1) % TEXEL not in (0, 1):
            return NotApplicable("the channels of a texel belong to several groups")
        shares = not all(_whole_loads(reduction) for reduction in reductions)
        size = _local_bytes(reductions, bare)
        return SharedRows(kernel, bare, _column(stage, bare), _length(stage), size, shares)

    def most_items(self, target: cl.Target) -> int:
        """Return how many work-items a group can have."""
        return min(
            target.device.max_work_group_size, target.device.local_memory_bytes // self.lane_bytes
        )

    def most_lanes(self, target: cl.Target) -> int:
        """Return how many work-items can share a row: a power of two, with two steps each."""
        most = min(self.length // 2, self.most_items(target))
        return 1 << (max(most, 1).bit_length() - 1)

    def extent(self, variable: int) -> int:
        """Return how many rows differ in a variable, those of a texel counted once."""
        return _extent(self.bare, variable)


@dataclass(frozen=True)
class SharingModel:
    """Chooses how many work-items share the rows of a kernel."""

    shared: SharedRows
    target: cl.Target

    @property
    def _most(self) -> int:
        """Work-items of a group, beyond which groups gain nothing.

        On an H200 a sum of a million elements takes 27 us in groups twice as large as usual, and 47
        us in usual ones.
        """
        target, few = self.target, self.shared.bare.rows.count < self.target.device.compute_units
        return min((2 if few else 1) * LARGE_GROUP, self.shared.most_items(target))

    @property
    def _least(self) -> int:
        """Work-items that a group should have."""
        return min(SHARED_GROUP, self._most)

    @cached_property
    def best(self) -> RowSharing | None:
        """The sharing for the target; None if one work-item for each result does as well."""
        column = self.shared.column
        return self._rows() if column is None else self._columns(column)

    def _rows(self) -> RowSharing | None:
        bare, rows = self.shared.bare, self.shared.bare.rows
        line = _LINE_BYTES // 4  # work-items that read a line of floats together
        lanes = _lanes(_count(bare), self.shared.length, self.target, line, self._most)
        if lanes < FAN_IN:
            return None
        along = max(rows.divisors, key=lambda v: _extent(bare, v), default=None)
        extent = 1 if along is None else _extent(bare, along)
        members = _even(extent, max(1, self._least // lanes))
        return replace(bare, lanes=lanes, along=along, members=members)

    def _columns(self, column: int) -> RowSharing | None:
        bare, most = self.shared.bare, self._most
        members = min(WAVE, most)
        while members > 8 and _count(bare) < members * self.target.device.compute_units:
            members //= 2
        extent = _extent(bare, column)
        members = _even(extent, members)
        lanes = _lanes(_count(bare), self.shared.length, self.target, 1, most // members)
        if lanes < FAN_IN:
            return None
        members = max(members, _even(extent, max(1, self._least // lanes)))
        return replace(bare, lanes=lanes, along=column, members=members, columns=True)


def _lanes(rows: int, length: int, target: cl.Target, least: int, most: int) -> int:
    """Return the work-items for a row: a power of two, with two elements for each."""
    if length < _BARRIER_STEPS:
        return 1
    wanted = max(target.device.compute_units * _ITEMS_PER_UNIT // rows, least)
    limit = max(min(wanted, length // 2, most), 1)
    return 1 << (limit.bit_length() - 1)


def _even(extent: int, size: int) -> int:
    """Return the size of the equal chunks, of at most `size`, that an extent takes."""
    chunks = -(-extent // size)
    return -(-extent // chunks)


def _extent(sharing: RowSharing, variable: int) -> int:
    """Return how many rows differ in a variable, those of a texel counted once."""
    extent = sharing.rows.extent(variable)
    return extent // TEXEL if variable == sharing.texel and sharing.of_texels else extent


def _count(sharing: RowSharing) -> int:
    return prod(_extent(sharing, variable) for variable in sharing.rows.divisors)


def _length(stage: KernelStage) -> int:
    """Return how many steps a row has, the four that share a texel counted once."""
    extents, channels = stage.block.iter_extents, stage.reduce_lane
    steps = prod(extents[i] for i in stage.reduce)
    if channels is None or not stage.takes_texels:
        return steps
    return steps // extents[channels] * -(-extents[channels] // TEXEL)


def _local_bytes(stages: Sequence[KernelStage], sharing: RowSharing) -> int:
    """Return the local memory of a work-item; all levels of a tree hold less than two lanes do."""
    types = (memref_of(b).element_type for stage in stages for b in written(stage.block))
    lane = sum(cast(FixedBitwidthType, type_).size for type_ in types)
    return 2 * lane * (TEXEL if sharing.of_texels else 1)


def _can_share(stage: KernelStage, rows: Rows) -> bool:
    """Return whether partial results of the stage can be combined, and every row needs it."""
    if not can_combine(stage.block):
        return False
    mine = set(rows.of[stage.block].values())
    return all(rows.extent(variable) == 1 or variable in mine for variable in rows.divisors)


def _whole_loads(stage: KernelStage) -> list[list[int | None]]:
    """Return the strides of the loads that read another element for every row and step.

    They read each element once, or close together in a window: a tile of results would share
    nothing.
    """
    stored = written(stage.block)
    extents = stage.block.iter_extents
    return [
        steps
        for op, steps in stage.strides.items()
        if op.memref not in stored
        and all(extents[i] == 1 or step != 0 for i, step in enumerate(steps))
    ]


def _texel_variable(stages: Sequence[KernelStage], output: KernelStage, rows: Rows) -> int | None:
    """Return the variable of the output that walks texels of the output or of an operand.

    A variable that walks only the four elements of a bias, say, does not count: its other accesses
    would be far apart.
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


def _column(stage: KernelStage, sharing: RowSharing) -> int | None:
    """Return the variable of the output whose neighbours are adjacent in memory, or None."""
    texels = sharing.of_texels or stage.reduce_lane is not None
    whole = _whole_loads(stage)
    units = {TEXEL if texels else 1} if whole else {1, TEXEL}
    near = {unit * n for unit in units for n in range(1, 2 if whole else _MOST_STRIDE + 1)}
    stored = written(stage.block)
    moves = whole or [steps for op, steps in stage.strides.items() if op.memref not in stored]
    for steps in moves:
        for position, variable in sharing.rows.of[stage.block].items():
            neighbours = steps[position] in near
            if neighbours and variable != sharing.texel and sharing.rows.extent(variable) > 1:
                return variable
    return None
