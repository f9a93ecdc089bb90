"""The order of the work-items that compute tiles of channels, so that operands stay in caches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, prod

from .....dialects import cl
from .....machine.core import LINE_BYTES
from ....estimate.reuse import traffic
from ....estimate.work import BufferStream, LoopLevel, StreamAxis
from ...schedule.analysis import memref_of
from ..shared.contraction import OperandLoad, element_bytes
from ..stages import lane_step
from .channel_tiles import BlockedReduction, ChannelTile

_CACHE_SHARE = 1 / 2
"""Share of the second cache that operands may take; results pass through it as well."""
_WORTHWHILE = 0.8
"""The share of bytes below which the order by rows is chosen (a guess)."""


def order_of_items(
    shape: BlockedReduction, tile: ChannelTile, chunk: int, target: cl.Target
) -> tuple[int, ...]:
    """Return the variables as work-items run through them, slowest first.

    Either work-items with the same weights follow each other, or those with the same rows of the
    operand: whichever order reads fewer bytes from beyond the second cache.
    """
    variables, lane = range(len(shape.extents)), shape.lane
    room = _CACHE_SHARE * target.machine.l2_cache_bytes

    def fetched(order: Sequence[int]) -> int:
        loads = enumerate(shape.contraction.loads)
        streams = [_stream(shape, tile, chunk, order, i, load) for i, load in loads]
        return traffic(streams, room, LINE_BYTES)

    by_weights = sorted(variables, key=lambda i: (i != 0, i != lane, i))
    by_rows = sorted(variables, key=lambda i: (i != 0, i == lane, i))
    worthwhile = fetched(by_rows) < _WORTHWHILE * fetched(by_weights)
    return tuple(by_rows if worthwhile else by_weights)


def _stream(
    shape: BlockedReduction,
    tile: ChannelTile,
    chunk: int,
    order: Sequence[int],
    number: int,
    load: OperandLoad,
) -> BufferStream:
    """Return what all tiles read of an operand: loops over work-items, then those inside of one."""
    axes = [*_axes(shape, tile, chunk, order, load)]
    size = element_bytes(load)
    total = size * prod(memref_of(load.op.memref).get_shape())
    return BufferStream(number, total, size, tuple(axes), tuple(range(len(axes))), is_store=False)


def _axes(
    shape: BlockedReduction,
    tile: ChannelTile,
    chunk: int,
    order: Sequence[int],
    load: OperandLoad,
) -> Iterator[StreamAxis]:
    stage, steps, column = shape.contraction.stage, load.steps, shape.column
    in_block = 0 if steps[shape.lane] == 0 else 1

    def axis(size: int, step: int | None, times: int = 1) -> StreamAxis:
        return StreamAxis(size, None if step is None else step * times, LoopLevel.INNER)

    for i in order:
        if i == shape.lane:
            yield axis(ceil(shape.count / tile.blocks), None if in_block else 0)
        elif i == column:
            tiles = ceil(shape.width / tile.columns / chunk)
            yield axis(tiles, steps[i], chunk * tile.columns)
        else:
            yield axis(shape.extents[i], steps[i])
    if column is not None:
        yield axis(chunk, steps[column], tile.columns)
        yield axis(tile.columns, steps[column])
    yield axis(tile.blocks, None if in_block else 0)
    yield axis(shape.lanes, in_block)
    for i in stage.reduce:
        extent = stage.block.iter_extents[i]
        if i == shape.term:
            step = lane_step(stage, load.op, i, shape.lanes)
            yield axis(extent // shape.lanes, None if steps[i] != 0 else 0)
            yield axis(shape.lanes, step)
        else:
            yield axis(extent, steps[i])
