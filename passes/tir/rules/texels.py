"""Kernels over packed tensors: four channels at a time, in images as in buffers.

A work-item of a contraction computes a texel, four channels of the output, at a few neighbouring
columns. Each step of the reduction reads a few texels of activations and of weights and multiplies
them all, so that every texel is used several times: 18 reads feed 192 multiply-adds of a 3x3
convolution. The same kernel reads images or buffers; what differs is made by the lowering.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineDimExpr, AffineExpr

from ....dialects import cl, tir
from ....dialects.tir import TEXEL
from ....dialects.tir.affine import simplify
from ..schedule import Schedule
from ..schedule.analysis import accesses, memref_of, temporary, written
from .stages import Stage, reads_in_place, strides
from .work_items import bind_items

_ACCUMULATORS = 16
"""Texels that a work-item computes at the most."""
_REGISTERS = 96
"""Registers of a target that does not say, as `cl.Target.registers` counts them."""
_READ_COST = 4.5
"""Issue slots of a texel read with what it takes, in multiply-adds of four lanes."""
_CROWDED = 1.25
"""What the slots of a window's tap cost with two waves in flight instead of four."""
_ALONE = 2.0
"""What any slot costs with one wave in flight."""
_MOST_COLUMNS = 8
"""Columns of the result for a work-item at the most."""
_MOST_COLUMNS_OF_CHANNEL = 4
"""The same for windows over one channel, in pools and depthwise convolutions: they have so little
to do for each texel they read that work-items in flight matter more."""
_MOST_TAPS = 16
"""Columns of a window that are worth unrolling."""
_MOST_COPIES = 1024
"""Multiply-adds in the text of an unrolled step of a reduction; more only slows compilers down."""


def lane_variable(stage: Stage, *, reduce: bool = False) -> int | None:
    """The iteration variable that walks the four lanes of the texels that a stage accesses.

    Of its stores, or where those are not packed, of its loads. With `reduce` the variable is a
    reduction's.
    """
    block = stage.block
    candidates = stage.reduce if reduce else stage.spatial
    operations = [*block.stores(), *block.loads()]
    buffers = dict.fromkeys(op.memref for op in operations if temporary(op.memref) is None)
    for buffer in buffers:
        if memref_of(buffer).get_shape()[-1:] != (TEXEL,):
            continue
        for _, indices in accesses(block, buffer):
            lane = _lane_of(indices[-1], block.iter_extents)
            if lane in candidates:
                return lane
    return None


def _lane_of(index: AffineExpr | None, extents: Sequence[int]) -> int | None:
    """The variable v where an index is `v mod 4`."""
    if index is None:
        return None
    match simplify(index, extents):
        case AffineDimExpr(position=position) if extents[position] <= TEXEL:
            return position
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Mod, lhs=AffineDimExpr(position=position), rhs=rhs
        ) if rhs == AffineExpr.constant(TEXEL):
            return position
        case _:
            return None


@dataclass(frozen=True)
class TexelTile:
    """What a work-item computes: `blocks` texels along `lane`, at `columns` points of `column`."""

    lane: int
    column: int | None
    columns: int
    blocks: int = 1


def texel_tile(stage: Stage, output: Stage, target: cl.Target) -> TexelTile | None:
    """The tile of a reduction that one output reads element by element; None for another shape."""
    lane = lane_variable(output)
    if lane is None:
        lane = lane_variable(stage)
    if lane is None or lane >= len(output.loops) or not stage.reduce:
        return None
    if stage.spatial != list(range(len(output.loops))) or not reads_in_place(stage, output):
        return None
    shape = _Shape.of(stage, output.block.iter_extents, lane)
    return min(_candidates(shape), key=lambda tile: _cost(shape, tile, target))


@dataclass(frozen=True)
class _Shape:
    """What the cost of a tile depends on, asked of a reduction once for all candidates."""

    extents: tuple[int, ...]
    """Of the result."""
    lane: int
    column: int | None
    """The variable of the result whose points a tile has several of; None if all are one."""
    shares_texels: bool
    channels: int
    """Steps of the reduction that one texel of activations feeds."""
    taps: int
    """Steps of the reduction beside the channels that a work-item takes at once."""
    stride: int
    """Columns of the operand between two of the result."""

    @staticmethod
    def of(stage: Stage, extents: tuple[int, ...], lane: int) -> _Shape:
        column = max((i for i in range(len(extents)) if i != lane and extents[i] > 1), default=None)
        channels = TEXEL if lane_variable(stage, reduce=True) is not None else 1
        shares = _shares_texels(stage, lane)
        return _Shape(extents, lane, column, shares, channels, _taps(stage), _stride(stage, column))

    def step(self, tile: TexelTile) -> _Step:
        """One step of the reduction for a tile."""
        columns = (tile.columns - 1) * min(self.stride, self.taps) + self.taps
        weights = self.channels * self.taps * tile.blocks
        return _Step(columns, weights, weights * tile.columns)


@dataclass(frozen=True)
class _Step:
    """What a work-item reads in one step of a reduction, in texels, and adds up."""

    activations: int
    weights: int
    products: int

    def slots(self) -> float:
        """Issue slots for each multiply-add."""
        return 1 + _READ_COST * (self.activations + self.weights) / (TEXEL * self.products)


def _candidates(shape: _Shape) -> Iterator[TexelTile]:
    """The tiles there are, of which one is always possible."""
    lane, column = shape.lane, shape.column
    texels = -(-shape.extents[lane] // TEXEL)
    most = _MOST_COLUMNS if shape.shares_texels else _MOST_COLUMNS_OF_CHANNEL
    most = 1 if column is None else min(shape.extents[column], most)
    for columns in range(1, most + 1):
        for blocks in (1, 2, 4) if shape.shares_texels else (1,):
            if texels % blocks == 0 and columns * blocks <= _ACCUMULATORS:
                yield TexelTile(lane, column, columns, blocks)


def _shares_texels(stage: Stage, lane: int) -> bool:
    """Whether other lanes of the result read some of the same: a contraction, no depthwise one."""
    stored = written(stage.block)
    return any(
        moves[lane] == 0 for op, moves in strides(stage.block).items() if op.memref not in stored
    )


def _is_depthwise(stage: Stage, lane: int) -> bool:
    """Whether a reduction multiplies the elements of each channel by those of another operand."""
    stored = written(stage.block)
    operands = {op.memref for op in stage.block.loads() if op.memref not in stored}
    return len(operands) > 1 and not _shares_texels(stage, lane)


def _taps(stage: Stage) -> int:
    """The size of the innermost loop of a window, where that is worth unrolling."""
    sizes = [stage.block.iter_extents[i] for i in stage.reduce]
    running = [size for size in sizes if size > 1]
    return running[-1] if len(running) > 1 and running[-1] <= _MOST_TAPS else 1


def _stride(stage: Stage, column: int | None) -> int:
    """How many columns of the operand there are between two of the result."""
    extents = stage.block.iter_extents
    taps = [i for i in stage.reduce if extents[i] > 1]
    for moves in strides(stage.block).values():
        if column is not None and taps:
            step, tap = moves[column], moves[taps[-1]]
            if step and tap and step % tap == 0:
                return step // tap
    return 1


def _cost(shape: _Shape, tile: TexelTile, target: cl.Target) -> float:
    """Issue slots per useful multiply-add, times what few waves and few work-items leave idle."""
    step, extents = shape.step(tile), shape.extents
    width = 1 if tile.column is None else extents[tile.column]
    tiles = -(-width // tile.columns)
    texels = -(-extents[tile.lane] // TEXEL)
    items = prod(extents) // (extents[tile.lane] * width) * tiles * texels // tile.blocks
    wanted = target.compute_units * target.preferred_work_group
    idle = max(1.0, wanted / items)
    registers = tile.columns * tile.blocks + step.activations + step.weights
    slots = step.slots() * tiles * tile.columns / width
    return slots * idle * _crowd(shape.taps, registers, target)


def _crowd(taps: int, registers: int, target: cl.Target) -> float:
    """What it costs that a work-item with so many registers leaves room for few others.

    Where a step reads one tap only, two waves keep the device as busy as four.
    """
    available = target.registers or _REGISTERS
    if registers >= available // 2:
        return _ALONE
    # What is read last needs no register of its own: it can take that of what is not needed again.
    return _CROWDED if registers - 1 > available // 4 and taps > 1 else 1.0


def apply_texel_tile(
    schedule: Schedule, stage: Stage, output: Stage, tile: TexelTile, target: cl.Target
) -> None:
    """One tile for each work-item; neighbours compute neighbouring columns."""
    loops = list(output.loops)
    loops[tile.lane], lanes = schedule.split(loops[tile.lane], TEXEL)
    inside: list[tir.ForOp] = []
    if tile.blocks > 1:
        loops[tile.lane], blocks = schedule.split(loops[tile.lane], tile.blocks)
        inside.append(blocks)
    if tile.column is not None:
        loops[tile.column], columns = schedule.split(loops[tile.column], tile.columns, overlap=True)
        inside.append(columns)
    schedule.reorder(*loops, *inside, lanes)
    local = bind_items(schedule, loops, target)
    inner = schedule.compute_at(stage.block, local)
    _tile_reduction(schedule, stage, tile, inner, target)
    for loop in inside:
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    schedule.keep_private(stage.block)


def _tile_reduction(
    schedule: Schedule, stage: Stage, tile: TexelTile, loops: list[tir.ForOp], target: cl.Target
) -> None:
    """The reduction outside of the tile: input channels, rows, then what is unrolled around it."""
    rank = len(stage.spatial)
    spatial, reduce = loops[:rank], loops[rank:]
    blocks, lanes = schedule.split(spatial[tile.lane], TEXEL)
    columns = [] if tile.column is None else [spatial[tile.column]]
    single = [loop for i, loop in enumerate(spatial) if i not in (tile.lane, tile.column)]
    channels = split_channels(schedule, stage, reduce)
    tiled = [blocks, *columns, *channels]
    depthwise = _is_depthwise(stage, tile.lane)
    copies = prod(loop.size for loop in (*tiled, lanes))
    window = _window_columns(reduce, copies, depthwise=depthwise)
    serial = [loop for loop in reduce if loop not in window]
    expanded = [*window, *tiled]
    schedule.reorder(*single, *serial, *expanded, lanes)
    for loop in expanded:
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    running = [loop for loop in serial if loop.size > 1]
    if target.rolled_loops and running:
        schedule.roll(running[-1])


def _window_columns(
    reduce: Sequence[tir.ForOp], copies: int, *, depthwise: bool
) -> list[tir.ForOp]:
    """The innermost loop of a reduction over a window: its taps share what they read.

    All loops of a small window of one channel: that is too little work for a loop.
    """
    running = [loop for loop in reduce if loop.size > 1]
    most = min(_MOST_TAPS, _MOST_COPIES // copies)
    if depthwise and prod(loop.size for loop in running) <= most:
        return running
    return running[-1:] if len(running) > 1 and running[-1].size <= most else []


def split_channels(schedule: Schedule, stage: Stage, reduce: list[tir.ForOp]) -> list[tir.ForOp]:
    """Take the lanes of the texels a reduction walks out of its loops; `reduce` is changed."""
    lane = lane_variable(stage, reduce=True)
    if lane is None:
        return []
    position = stage.reduce.index(lane)
    if reduce[position].size % TEXEL:
        return []
    reduce[position], channels = schedule.split(reduce[position], TEXEL)
    return [channels]
