"""What a work-item computes of a reduction over packed tensors, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.dialects.builtin import f16

from ....dialects import cl
from ....dialects.tir import TEXEL
from ..half_sums import MOST_HALVES
from ..schedule.analysis import memref_of, written
from .naive_kernel import NaiveKernel
from .stages import Stage, reads_in_place
from .texel_row import TexelRow

_ACCUMULATORS = 16
"""Texels that a work-item computes at the most."""
_MOST_COLUMNS = 8
"""Columns of the result for a work-item at the most."""
_MOST_COLUMNS_OF_POOL = 4
"""The same for pools: they have so little to do for each texel they read that work-items in flight
matter more."""
_COLUMNS_OF_ROW = 4
"""Texels for each row that a tile of a depthwise convolution may have."""
MOST_TAPS = 16
"""Columns of a window that are worth unrolling."""
_SPILLS = 8.0
"""What a kernel costs whose registers do not suffice, in units of one with four waves."""


@dataclass(frozen=True)
class TexelTile:
    """What a work-item computes: `blocks` texels at `columns` points of each of its `rows`."""

    columns: int
    blocks: int = 1
    rows: int = 1

    @property
    def texels(self) -> int:
        """All that it computes."""
        return self.columns * self.blocks * self.rows


@dataclass(frozen=True)
class TexelShape:
    """What a tile depends on, asked of a reduction once for all candidates."""

    stage: Stage
    extents: tuple[int, ...]
    """Of the result."""
    lane: int
    """The variable of the result that walks the lanes of texels."""
    shares_texels: bool
    channels: int
    """Steps of the reduction that one texel of activations feeds."""
    taps: int
    """Columns of the window that one step of the reduction unrolls; 1 without such a window."""
    stride: int
    """Columns of the operand between two of the result."""
    row: int | None
    """The variable of the result whose points are the rows of a tile, of depthwise convolutions."""
    row_taps: int
    """Rows of the window that a work-item takes at once."""
    row_stride: int
    """Rows of the operand between two of the result."""
    plain: TexelRow | None = None
    """The rows of a plain operand, where the device reads them by texels."""

    @staticmethod
    def of(kernel: NaiveKernel, target: cl.Target | None = None) -> TexelShape | None:
        """None for a kernel of another shape. Costs and domains of plans depend on the target."""
        if len(kernel.producers) != 1:
            return None
        (stage,), output = kernel.producers, kernel.main
        lane = output.lane
        if lane is None:
            lane = stage.lane
        if lane is None or lane >= len(output.loops) or not stage.reduce:
            return None
        if stage.spatial != list(range(len(output.loops))) or not reads_in_place(stage, output):
            return None
        extents = output.block.iter_extents
        row, column = _row(stage, extents, lane), _column(extents, lane)
        reads_rows = target is not None and target.uses_textures and target.texels_of_rows
        plain = TexelRow.of(stage, lane, column) if reads_rows else None
        in_patches = _reads_patches(stage, plain)
        return TexelShape(
            stage,
            extents,
            lane,
            _shares_texels(stage, lane),
            TEXEL if stage.reduce_lane is not None or in_patches else 1,
            1 if in_patches else _taps(stage),
            _stride(stage, column, -1),
            row,
            1 if row is None else _row_taps(stage),
            _stride(stage, row, -2),
            plain,
        )

    @property
    def column(self) -> int | None:
        """The variable of the result whose points a tile has several of; None if all are one."""
        return _column(self.extents, self.lane)

    @property
    def texels(self) -> int:
        """Texels of the result along `lane`."""
        return -(-self.extents[self.lane] // TEXEL)

    @property
    def most_columns(self) -> int:
        pools = not self.shares_texels and not is_depthwise(self.stage, self.lane)
        most = _MOST_COLUMNS_OF_POOL if pools else _MOST_COLUMNS
        return 1 if self.column is None else min(self.extents[self.column], most)

    def rows(self, columns: int) -> tuple[int, ...]:
        """How many rows a tile of some columns can have."""
        if self.row is None:
            return (1,)
        most = min(self.extents[self.row], _ACCUMULATORS // columns)
        return tuple(range(1, most + 1))

    def blocks(self, columns: int) -> tuple[int, ...]:
        """Which numbers of texels a tile of some columns can have."""
        return tuple(
            blocks
            for blocks in ((1, 2, 4) if self.shares_texels else (1,))
            if self.texels % blocks == 0 and columns * blocks <= _ACCUMULATORS
        )

    def columns_read(self, tile: TexelTile) -> int:
        """Columns of the operand that one row of a window reads for a tile, or their texels."""
        plain = None if self.in_patches else self.plain
        if plain is not None and self.taps == plain.taps and plain.is_aligned(tile.columns):
            return plain.texels(tile.columns, plain.taps)
        return (tile.columns - 1) * min(self.stride, self.taps) + self.taps

    def registers(self, tile: TexelTile) -> int:
        """Texels at a time: sums, and what one row of a window reads."""
        weights = self.channels * self.taps * tile.blocks
        return tile.texels + tile.rows * self.columns_read(tile) + weights

    def half_registers(self, tile: TexelTile) -> int:
        """The same for sums in half: short ones and their total, and the weights of one tap."""
        sums = tile.texels * (1 if self.terms <= MOST_HALVES else 2)
        return sums + tile.rows * self.columns_read(tile) + self.channels * tile.blocks

    @property
    def terms(self) -> int:
        """Products of a sum."""
        return prod(self.stage.block.iter_extents[i] for i in self.stage.reduce)

    def is_half(self, target: cl.Target) -> bool:
        """Whether the sums are in half, at twice the rate of float."""
        elements = {memref_of(buffer).element_type for buffer in written(self.stage.block)}
        return target.half_totals and elements == {f16}

    def step(self, tile: TexelTile) -> _Step:
        """One step of the reduction for a tile."""
        columns = self.columns_read(tile)
        rows = (tile.rows - 1) * min(self.row_stride, self.row_taps) + self.row_taps
        weights = self.channels * self.taps * self.row_taps * tile.blocks
        products = weights * tile.columns * tile.rows
        return _Step(columns * rows, weights, products, self.plain is not None)

    @property
    def in_patches(self) -> bool:
        """Whether a step of the reduction takes a texel of a row of the operand."""
        return _reads_patches(self.stage, self.plain)

    def grid(self, tile: TexelTile) -> list[int]:
        """The loops over tiles, outermost first."""
        sizes = list(self.extents)
        sizes[self.lane] = self.texels // tile.blocks
        if self.column is not None:
            sizes[self.column] = -(-sizes[self.column] // tile.columns)
        if self.row is not None:
            sizes[self.row] = -(-sizes[self.row] // tile.rows)
        return sizes

    @cached_property
    def running(self) -> list[int]:
        """The loops of the reduction that run more than once, without the lanes of its texels."""
        sizes = [self.stage.block.iter_extents[i] for i in self.stage.reduce]
        lane = self.stage.reduce_lane
        if lane is not None and self.stage.takes_texels:
            at = self.stage.reduce.index(lane)
            sizes[at] = -(-sizes[at] // TEXEL)
        found = [size for size in sizes if size > 1]
        if self.in_patches:
            found[-1:] = [found[-1] // TEXEL] if found[-1] > TEXEL else []
        return found

    @property
    def has_whole_channels(self) -> bool:
        """Whether the reduction runs over channels in whole texels."""
        lane = self.stage.reduce_lane
        return lane is not None and self.stage.block.iter_extents[lane] % TEXEL == 0

    def products(self, tile: TexelTile) -> int:
        """Multiply-adds of a tile."""
        steps = prod(self.running) * (TEXEL if self.stage.takes_texels else 1)
        return steps * tile.texels * TEXEL

    def copies(self, tile: TexelTile) -> int:
        """Multiply-adds in the text of one step without its window."""
        channels = TEXEL if self.stage.takes_texels or self.in_patches else 1
        return tile.texels * channels * TEXEL


def _column(extents: Sequence[int], lane: int) -> int | None:
    return max((i for i in range(len(extents)) if i != lane and extents[i] > 1), default=None)


@dataclass(frozen=True)
class _Step:
    """What a work-item reads in one step of a reduction, in texels, and adds up."""

    activations: int
    weights: int
    products: int
    in_rows: bool
    """Whether activations lie in a plain buffer, which costs more than an image."""

    def slots(self, target: cl.Target, rate: float) -> float:
        """Issue slots for each multiply-add, which takes `rate` of one itself."""
        activations = self.activations / (target.image_cost if self.in_rows else 1.0)
        reads = activations + self.weights
        return rate + target.texel_cost * reads / (TEXEL * self.products)


def candidates(shape: TexelShape, target: cl.Target) -> Iterator[TexelTile]:
    """The tiles among which a target chooses; there is always one."""
    most = _ACCUMULATORS if shape.shares_texels else target.channel_texels
    for columns in range(1, min(shape.most_columns, most) + 1):
        for blocks in shape.blocks(columns):
            for rows in shape.rows(columns):
                tile = TexelTile(columns, blocks, rows)
                if columns * rows <= most and rows <= most // _COLUMNS_OF_ROW:
                    yield tile


def _shares_texels(stage: Stage, lane: int) -> bool:
    """Whether other lanes of the result read some of the same: a contraction, no depthwise one."""
    stored = written(stage.block)
    return any(moves[lane] == 0 for op, moves in stage.strides.items() if op.memref not in stored)


def is_depthwise(stage: Stage, lane: int) -> bool:
    """Whether a reduction multiplies the elements of each channel by those of another operand."""
    stored = written(stage.block)
    operands = {op.memref for op in stage.block.loads() if op.memref not in stored}
    return len(operands) > 1 and not _shares_texels(stage, lane)


def _taps(stage: Stage) -> int:
    """The size of the innermost loop of a window, where that is worth unrolling."""
    running = _running(stage)
    return running[-1] if len(running) > 1 and running[-1] <= MOST_TAPS else 1


def _row(stage: Stage, extents: Sequence[int], lane: int) -> int | None:
    """The rows of the result of a depthwise convolution."""
    column, window = _column(extents, lane), _running(stage)
    if column is None or len(window) != 2 or not is_depthwise(stage, lane):
        return None
    return _column(extents[:column], lane)


def _row_taps(stage: Stage) -> int:
    """The rows of a window that is small enough to be unrolled."""
    window = _running(stage)
    return window[0] if prod(window) <= MOST_TAPS else 1


def _reads_patches(stage: Stage, plain: TexelRow | None) -> bool:
    """Whether the lanes of texels are steps along a row, and not those of another operand."""
    return plain is not None and plain.are_patches and not stage.takes_texels


def _running(stage: Stage) -> list[int]:
    """The loops of a reduction that run more than once."""
    sizes = (stage.block.iter_extents[i] for i in stage.reduce)
    return [size for size in sizes if size > 1]


def _stride(stage: Stage, variable: int | None, loop: int) -> int:
    """How many points of the operand there are between two of the result.

    `loop` is that of the window along the variable, among those that run.
    """
    extents = stage.block.iter_extents
    taps = [i for i in stage.reduce if extents[i] > 1][loop:]
    for moves in stage.strides.values():
        if variable is not None and taps:
            step, tap = moves[variable], moves[taps[0]]
            if step and tap and step % tap == 0:
                return step // tap
    return 1


def cost_of(shape: TexelShape, tile: TexelTile, target: cl.Target, parts: int = 1) -> float:
    """Issue slots per useful multiply-add, times what few waves and few work-items leave idle.

    A tile has `parts` work-items.
    """
    step, extents = shape.step(tile), shape.extents
    grid = shape.grid(tile)
    wanted = target.compute_units * target.preferred_work_group
    idle = max(1.0, wanted / (prod(grid) * parts))
    covered = prod(grid) * tile.texels * TEXEL
    useful = prod(extents) // extents[shape.lane] * shape.texels * TEXEL
    start = target.item_slots * parts / shape.products(tile)
    rate = 0.5 if shape.is_half(target) else 1.0
    slots = (step.slots(target, rate) + start) * covered / useful
    return slots * idle * _crowd(shape, tile, target)


def _crowd(shape: TexelShape, tile: TexelTile, target: cl.Target) -> float:
    """What it costs that a work-item with so many registers leaves room for few others.

    Where a step reads one tap only, two waves keep the device as busy as four.
    """
    available = target.registers
    registers = shape.registers(tile)
    if shape.is_half(target):
        halves = shape.half_registers(tile)
        registers = -(-halves // 2) if halves < target.half_registers else available + 1
    if registers > available:
        return _SPILLS
    if registers >= available // 2:
        return target.one_wave_cost
    # What is read last needs no register of its own: it can take that of what is not needed again.
    crowded = registers - 1 > available // 4 and shape.taps > 1
    return target.two_waves_cost if crowded else 1.0
