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
from .. import schedule
from ..schedule.analysis import accesses, memref_of, temporary, written
from .stages import Stage, keep_private
from .work_items import bind_items

_ACCUMULATORS = 16
"""Accumulators of a work-item, each a texel: as many as leave a mobile GPU two waves to switch to.
"""
_ACCUMULATORS_OF_WINDOW = 4
"""The same where a step of the reduction covers several taps, whose texels want registers, too."""
_READ_COST = 4.5
"""Issue slots of a texel read with what it takes, in multiply-adds of four lanes."""
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
    if stage.spatial != list(range(len(output.loops))) or not _aligned(stage, output):
        return None
    extents = output.block.iter_extents
    column = max((i for i in range(len(extents)) if i != lane and extents[i] > 1), default=None)
    return min(
        _candidates(stage, extents, lane, column),
        key=lambda tile: _cost(stage, extents, tile, target),
    )


def _candidates(
    stage: Stage, extents: Sequence[int], lane: int, column: int | None
) -> Iterator[TexelTile]:
    """The tiles whose accumulators fit into the registers."""
    most = _ACCUMULATORS_OF_WINDOW if _taps(stage) > 1 else _ACCUMULATORS
    texels = -(-extents[lane] // TEXEL)
    reused = lane_variable(stage, reduce=True) is not None
    for columns in range(1, 1 if column is None else min(most, extents[column], 8) + 1):
        for blocks in (1, 2, 4) if reused else (1,):
            if texels % blocks == 0 and columns * blocks <= most:
                yield TexelTile(lane, column, columns, blocks)
    if column is None:
        yield TexelTile(lane, None, 1)


def _taps(stage: Stage) -> int:
    """Steps of the reduction beside the channels that a work-item takes at once."""
    sizes = [stage.block.iter_extents[i] for i in stage.reduce]
    running = [size for size in sizes if size > 1]
    return running[-1] if len(running) > 1 and running[-1] <= _MOST_TAPS else 1


def _cost(stage: Stage, extents: Sequence[int], tile: TexelTile, target: cl.Target) -> float:
    """Issue slots per useful multiply-add, times what too few work-items leave idle."""
    taps = _taps(stage)
    width = 1 if tile.column is None else extents[tile.column]
    tiles = -(-width // tile.columns)
    channels = TEXEL if lane_variable(stage, reduce=True) is not None else 1
    reads = tile.columns + taps - 1 + channels * taps * tile.blocks
    accumulated = tile.columns * taps * channels * tile.blocks
    slots = 1 + _READ_COST * reads / (TEXEL * accumulated)
    texels = -(-extents[tile.lane] // TEXEL)
    items = prod(extents) // (extents[tile.lane] * width) * tiles * texels // tile.blocks
    wanted = target.compute_units * target.preferred_work_group
    return slots * tiles * tile.columns / width * max(1.0, wanted / items)


def _aligned(stage: Stage, output: Stage) -> bool:
    """Whether the output reads what the stage computes at its own position."""
    for buffer in written(stage.block):
        shape = memref_of(buffer).get_shape()
        for _, indices in accesses(output.block, buffer):
            for position, (index, size) in enumerate(zip(indices, shape, strict=True)):
                if size != 1 and index != AffineExpr.dimension(position):
                    return False
    return True


def apply_texel_tile(stage: Stage, output: Stage, tile: TexelTile, target: cl.Target) -> None:
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
    local = bind_items(loops, target)
    inner = schedule.compute_at(stage.block, local)
    _tile_reduction(stage, tile, inner, target)
    for loop in inside:
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    keep_private(stage.block)


def _tile_reduction(
    stage: Stage, tile: TexelTile, loops: list[tir.ForOp], target: cl.Target
) -> None:
    """The reduction outside of the tile: input channels, rows, then what is unrolled around it."""
    rank = len(stage.spatial)
    spatial, reduce = loops[:rank], loops[rank:]
    blocks, lanes = schedule.split(spatial[tile.lane], TEXEL)
    columns = [] if tile.column is None else [spatial[tile.column]]
    single = [loop for i, loop in enumerate(spatial) if i not in (tile.lane, tile.column)]
    channels = split_channels(stage, reduce)
    tiled = [blocks, *columns, *channels]
    window = _window_columns(reduce, prod(loop.size for loop in (*tiled, lanes)))
    serial = [loop for loop in reduce if loop not in window]
    expanded = [*window, *tiled]
    schedule.reorder(*single, *serial, *expanded, lanes)
    for loop in expanded:
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    running = [loop for loop in serial if loop.size > 1]
    if target.rolled_loops and running:
        schedule.roll(running[-1])


def _window_columns(reduce: Sequence[tir.ForOp], copies: int) -> list[tir.ForOp]:
    """The innermost loop of a reduction over a window: its taps share what they read."""
    running = [loop for loop in reduce if loop.size > 1]
    if len(running) > 1 and running[-1].size <= min(_MOST_TAPS, _MOST_COPIES // copies):
        return running[-1:]
    return []


def split_channels(stage: Stage, reduce: list[tir.ForOp]) -> list[tir.ForOp]:
    """Take the lanes of the texels a reduction walks out of its loops; `reduce` is changed."""
    lane = lane_variable(stage, reduce=True)
    if lane is None:
        return []
    position = stage.reduce.index(lane)
    if reduce[position].size % TEXEL:
        return []
    reduce[position], channels = schedule.split(reduce[position], TEXEL)
    return [channels]
