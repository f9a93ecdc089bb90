"""Work-items that compute tiles of channels: how many tiles each, and in which order they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, prod

from .....dialects import cl
from .....machine.core import LINE_BYTES, MEMORY_BYTES_PER_CYCLE
from ....estimate.reuse import traffic
from ....estimate.work import BufferStream, LoopLevel, StreamAxis
from ...schedule.analysis import memref_of
from ..shared.contraction import OperandLoad, element_bytes
from ..stages import lane_step
from .beliefs import ITEMS_PER_CORE
from .channel_tiles import BlockedReduction, ChannelTile

_CACHE_SHARE = 3 / 4
"""Share of the second cache that operands may take; results pass through it as well."""
_WORTHWHILE = 0.8
"""The share of bytes below which the order by rows is chosen (a guess)."""
_ITEM_START = 100.0
"""Cycles until a work-item has started and filled the pipelines (a guess)."""


@dataclass(frozen=True)
class Items:
    """How tiles are distributed among work-items."""

    chunk: int
    """Tiles of a row that a work-item computes."""
    order: tuple[int, ...]
    """The variables as work-items run through them, slowest first."""


def items_of(shape: BlockedReduction, tile: ChannelTile, target: cl.Target, whole: bool) -> Items:
    """Return the work-items with the least cost of starting them and of reading beyond L2.

    They keep all cores busy if there are enough tiles. Consecutive ones share either the weights or
    the rows of the operand. Only with `whole` may a work-item compute all tiles of a row.
    """
    variables, lane = range(len(shape.extents)), shape.lane
    room = _CACHE_SHARE * target.machine.l2_cache_bytes
    tiles = ceil(shape.width / tile.columns)
    rows = prod(shape.extents) // (shape.extents[lane] * shape.width)
    others = rows * ceil(shape.count / tile.blocks)
    by_weights = tuple(sorted(variables, key=lambda i: (i != 0, i != lane, i)))
    by_rows = tuple(sorted(variables, key=lambda i: (i != 0, i == lane, i)))

    def cycles(items: Items) -> float:
        loads = enumerate(shape.contraction.loads)
        streams = [_stream(shape, tile, items.chunk, items.order, i, load) for i, load in loads]
        fetched = traffic(streams, room, LINE_BYTES) / MEMORY_BYTES_PER_CYCLE
        if items.order == by_rows:
            fetched /= _WORTHWHILE
        return fetched + others * ceil(tiles / items.chunk) * _ITEM_START

    groups = ceil(ITEMS_PER_CORE * target.device.compute_units / others) if whole else tiles
    chunks = [1]
    while groups < tiles:
        chunks.append(ceil(tiles / groups))
        groups *= 2
    found = [Items(chunk, order) for chunk in chunks for order in (by_weights, by_rows)]
    return min(found, key=cycles)


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
