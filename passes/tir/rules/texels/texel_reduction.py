"""Reductions over packed tensors: their structure, their tiles, and a cost model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from xdsl.dialects.builtin import f16

from .....dialects import cl
from .....dialects.tir import TEXEL
from ...half_sums import MOST_HALVES
from ...schedule.analysis import memref_of, written
from ..naive_kernel import NaiveKernel
from ..space import NotApplicable
from ..stages import KernelStage, reads_in_place
from .texel_row import TexelRow
from .tiles import TexelTile, column_of, grid_of

TEXEL_SLOTS = 4.5
"""Issue slots of a read of a texel and its coordinates, in those of a multiply-add of four lanes (a
guess)."""

_ACCUMULATORS = 16
"""Most texels that a work-item computes."""
_MOST_COLUMNS = 8
"""Most columns of the result per work-item."""
_MOST_COLUMNS_OF_POOL = 4
"""Most columns of a pool, which computes little per texel, so that waves in flight matter more."""
_COLUMNS_OF_ROW = 4
"""Texels for each row that a tile of a depthwise convolution may have."""
MOST_TAPS = 16
"""Columns of a window that are worth unrolling."""
_SPILLS = 8.0
"""Relative cost of a kernel that spills (1.0 = four waves in flight)."""
_TWO_WAVES = 0.25
"""The share of what one wave in flight costs that two waves cost."""


@dataclass(frozen=True)
class TexelReduction:
    """A reduction to texels, and how a tile of them reads its operands."""

    kernel: NaiveKernel
    stage: KernelStage
    extents: tuple[int, ...]
    """Of the result."""
    lane: int
    """The variable of the result that walks the lanes of texels."""
    shares_texels: bool
    """Whether lanes of the result share reads, unlike in a depthwise convolution."""
    stride: int
    """Columns of the operand between two of the result."""
    row: int | None
    """The variable of the result whose points are the rows of a tile, of depthwise convolutions."""
    row_taps: int
    """Rows of the window that a work-item takes at once."""
    row_stride: int
    """Rows of the operand between two of the result."""
    plain: TexelRow | None
    """The rows of a plain operand, if they are read by texels."""

    @staticmethod
    def of(kernel: NaiveKernel) -> TexelReduction | NotApplicable:
        """Return the reduction that a kernel is; it reads rows by texels if it has any."""
        reason = NotApplicable(
            "it is not one reduction to texels that an output reads element by element"
        )
        if len(kernel.producers) != 1:
            return reason
        (stage,), output = kernel.producers, kernel.main
        lane = output.lane
        if lane is None:
            lane = stage.lane
        if lane is None or lane >= len(output.loops) or not stage.reduce:
            return reason
        if stage.spatial != list(range(len(output.loops))) or not reads_in_place(stage, output):
            return reason
        extents = output.block.iter_extents
        row, column = _row(stage, extents, lane), column_of(extents, lane)
        return TexelReduction(
            kernel,
            stage,
            extents,
            lane,
            _shares_texels(stage, lane),
            _stride(stage, column, -1),
            row,
            1 if row is None else _row_taps(stage),
            _stride(stage, row, -2),
            TexelRow.of(stage, lane, column),
        )

    @cached_property
    def by_elements(self) -> TexelReduction:
        """The same reduction if it reads rows of a plain operand element by element."""
        return self if self.plain is None else replace(self, plain=None)

    def on(self, target: cl.Target) -> TexelReduction:
        """Return the reduction as the device reads it: rows by texels, or by elements."""
        reads_rows = target.uses_textures and target.compiler.texels_of_rows
        return self if reads_rows else self.by_elements

    @cached_property
    def channels(self) -> int:
        """Steps of the reduction that one texel of activations feeds."""
        return TEXEL if self.stage.reduce_lane is not None or self.in_patches else 1

    @cached_property
    def taps(self) -> int:
        """Columns of the window that one step of the reduction unrolls; 1 without such a window."""
        return 1 if self.in_patches else _taps(self.stage)

    @property
    def column(self) -> int | None:
        """The variable of the result whose points a tile has several of; None if all are one."""
        return column_of(self.extents, self.lane)

    @property
    def texels(self) -> int:
        """Texels of the result along `lane`."""
        return -(-self.extents[self.lane] // TEXEL)

    @property
    def most_columns(self) -> int:
        """Columns of a tile at the most."""
        pools = not self.shares_texels and not is_depthwise(self.stage, self.lane)
        most = _MOST_COLUMNS_OF_POOL if pools else _MOST_COLUMNS
        return 1 if self.column is None else min(self.extents[self.column], most)

    def rows(self, columns: int) -> tuple[int, ...]:
        """Return how many rows a tile of some columns can have."""
        if self.row is None:
            return (1,)
        most = min(self.extents[self.row], _ACCUMULATORS // columns)
        return tuple(range(1, most + 1))

    def blocks(self, columns: int) -> tuple[int, ...]:
        """Return the numbers of texels that a tile of some columns can have."""
        return tuple(
            blocks
            for blocks in ((1, 2, 4) if self.shares_texels else (1,))
            if self.texels % blocks == 0 and columns * blocks <= _ACCUMULATORS
        )

    def columns_read(self, tile: TexelTile) -> int:
        """Return the columns of the operand, or their texels, that one row of a window reads."""
        plain = None if self.in_patches else self.plain
        if plain is not None and self.taps == plain.taps and plain.is_aligned(tile.columns):
            return plain.texels(tile.columns, plain.taps)
        return (tile.columns - 1) * min(self.stride, self.taps) + self.taps

    def registers(self, tile: TexelTile) -> int:
        """Return the texels in registers at a time: sums, and what one row of a window reads."""
        weights = self.channels * self.taps * tile.blocks
        return tile.texels + tile.rows * self.columns_read(tile) + weights

    def half_registers(self, tile: TexelTile) -> int:
        """Return the same for sums in half: short sums, their total, and the weights of one tap."""
        sums = tile.texels * (1 if self.terms <= MOST_HALVES else 2)
        return sums + tile.rows * self.columns_read(tile) + self.channels * tile.blocks

    @property
    def terms(self) -> int:
        """Products of a sum."""
        return prod(self.stage.block.iter_extents[i] for i in self.stage.reduce)

    def is_half(self, target: cl.Target) -> bool:
        """Return whether the sums are in half, at twice the rate of float."""
        elements = {memref_of(buffer).element_type for buffer in written(self.stage.block)}
        return target.compiler.half_totals and elements == {f16}

    def step(self, tile: TexelTile) -> TileStep:
        """Return what a tile reads and adds up in a step of the reduction."""
        columns = self.columns_read(tile)
        rows = (tile.rows - 1) * min(self.row_stride, self.row_taps) + self.row_taps
        weights = self.channels * self.taps * self.row_taps * tile.blocks
        products = weights * tile.columns * tile.rows
        return TileStep(columns * rows, weights, products, self.plain is not None)

    @cached_property
    def in_patches(self) -> bool:
        """Whether the lanes of texels are steps along a row, and not those of another operand."""
        plain = self.plain
        return plain is not None and plain.are_patches and not self.stage.takes_texels

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
        """Return the multiply-adds of a tile."""
        steps = prod(self.running) * (TEXEL if self.stage.takes_texels else 1)
        return steps * tile.texels * TEXEL

    def copies(self, tile: TexelTile) -> int:
        """Return the multiply-adds in the text of one step without its window."""
        channels = TEXEL if self.stage.takes_texels or self.in_patches else 1
        return tile.texels * channels * TEXEL


@dataclass(frozen=True)
class TileStep:
    """What a work-item reads in one step of a reduction, in texels, and adds up."""

    activations: int
    weights: int
    products: int
    in_rows: bool
    """Whether activations lie in a plain buffer, which costs more than an image."""

    def slots(self, target: cl.Target, rate: float) -> float:
        """Return the issue slots per multiply-add, which itself takes `rate` slots."""
        activations = self.activations / (target.machine.image_cost if self.in_rows else 1.0)
        reads = activations + self.weights
        return rate + TEXEL_SLOTS * reads / (TEXEL * self.products)


def candidates(shape: TexelReduction, target: cl.Target) -> Iterator[TexelTile]:
    """Yield the tiles among which a target chooses; there is always one."""
    most = _ACCUMULATORS if shape.shares_texels else target.machine.channel_texels
    for columns in range(1, min(shape.most_columns, most) + 1):
        for blocks in shape.blocks(columns):
            for rows in shape.rows(columns):
                tile = TexelTile(columns, blocks, rows)
                if columns * rows <= most and rows <= max(1, most // _COLUMNS_OF_ROW):
                    yield tile


def _shares_texels(stage: KernelStage, lane: int) -> bool:
    """Return whether several lanes of the result read the same elements of an operand."""
    stored = written(stage.block)
    return any(moves[lane] == 0 for op, moves in stage.strides.items() if op.memref not in stored)


def is_depthwise(stage: KernelStage, lane: int) -> bool:
    """Return whether a reduction multiplies each channel by that of another operand."""
    stored = written(stage.block)
    operands = {op.memref for op in stage.block.loads() if op.memref not in stored}
    return len(operands) > 1 and not _shares_texels(stage, lane)


def _taps(stage: KernelStage) -> int:
    """Return the size of the innermost loop of a window if it is worth unrolling, else 1."""
    running = _running(stage)
    return running[-1] if len(running) > 1 and running[-1] <= MOST_TAPS else 1


def _row(stage: KernelStage, extents: Sequence[int], lane: int) -> int | None:
    """Return the variable of the rows of a depthwise convolution's result."""
    column, window = column_of(extents, lane), _running(stage)
    if column is None or len(window) != 2 or not is_depthwise(stage, lane):
        return None
    return column_of(extents[:column], lane)


def _row_taps(stage: KernelStage) -> int:
    """Return the rows of a window that is small enough to be unrolled, else 1."""
    window = _running(stage)
    return window[0] if prod(window) <= MOST_TAPS else 1


def _running(stage: KernelStage) -> list[int]:
    """Return the sizes of the loops of a reduction that run more than once."""
    sizes = (stage.block.iter_extents[i] for i in stage.reduce)
    return [size for size in sizes if size > 1]


def _stride(stage: KernelStage, variable: int | None, loop: int) -> int:
    """Return how many points of the operand there are between two of the result.

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


def cost_of(shape: TexelReduction, tile: TexelTile, target: cl.Target, parts: int = 1) -> float:
    """Return issue slots per useful multiply-add, times what few waves and few items leave idle.

    A tile has `parts` work-items.
    """
    step, extents = shape.step(tile), shape.extents
    grid = grid_of(shape, tile)
    wanted = target.device.compute_units * target.machine.preferred_work_group
    idle = max(1.0, wanted / (prod(grid) * parts))
    covered = prod(grid) * tile.texels * TEXEL
    useful = prod(extents) // extents[shape.lane] * shape.texels * TEXEL
    start = target.machine.item_slots * parts / shape.products(tile)
    rate = 0.5 if shape.is_half(target) else 1.0
    slots = (step.slots(target, rate) + start) * covered / useful
    return slots * idle * _crowd(shape, tile, target)


def _crowd(shape: TexelReduction, tile: TexelTile, target: cl.Target) -> float:
    """Return the relative cost of a tile whose registers leave room for few waves.

    If a step reads one tap only, two waves keep the device as busy as four.
    """
    available = target.machine.registers
    registers = shape.registers(tile)
    if shape.is_half(target):
        halves = shape.half_registers(tile)
        registers = -(-halves // 2) if halves < target.machine.half_registers else available + 1
    if registers > available:
        return _SPILLS
    if registers >= available // 2:
        return target.machine.one_wave_cost
    # The last read can reuse the register of a value that is no longer needed.
    crowded = registers - 1 > available // 4 and shape.taps > 1
    return 1.0 + _TWO_WAVES * (target.machine.one_wave_cost - 1.0) if crowded else 1.0
