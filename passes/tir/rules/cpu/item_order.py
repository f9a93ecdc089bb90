"""Work-items that compute tiles of channels: how many tiles each, and in which order they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, prod

from .....machine.core import LINE_BYTES, MEMORY_BYTES_PER_CYCLE
from ....estimate.reuse import traffic
from ....estimate.work import BufferStream, LoopLevel, StreamAxis
from ..shared.contraction import OperandLoad, element_bytes
from ..stages import lane_step
from .channel_tiles import BlockedReduction, ChannelTile, ChannelTileModel
from .streams import buffer_bytes

_CACHE_SHARE = 3 / 4
"""Share of the second cache that operands may take; results pass through it as well."""
_WORTHWHILE = 0.8
"""The share of bytes below which the order by rows is chosen (a guess)."""
_ITEM_START = 300.0
"""Cycles until a work-item has started and filled the pipelines and L1 (1x1 convolutions of 96
channels with 84 work-items, AVX-512)."""
_LEAST_PER_CORE = 4
"""Work-items per core, if there are enough tiles."""
_WAIT = 0.5
"""Least share of a work-item for which each core waits, because cores have other work: with 112
work-items, a 1x1 convolution takes .9 of the time that it takes with 8 (AVX-512, two cores)."""


@dataclass(frozen=True)
class Items:
    """How tiles are distributed among work-items."""

    chunk: int
    """Tiles of a row that a work-item computes."""
    order: tuple[int, ...]
    """The variables as work-items run through them, slowest first."""


def items_of(model: ChannelTileModel, whole: bool) -> Items:
    """Return the work-items of the best tile with the least cost.

    Consecutive ones share either the weights or the rows of the operand. Only with `whole` may a
    work-item compute all tiles of a row.
    """
    costs = _ItemCosts(model)
    variables, lane = range(len(model.shape.extents)), model.shape.lane
    by_weights = tuple(sorted(variables, key=lambda i: (i != 0, i != lane, i)))
    by_rows = tuple(sorted(variables, key=lambda i: (i != 0, i == lane, i)))
    least = _LEAST_PER_CORE * costs.cores
    groups = ceil(least / (costs.rows * costs.panels)) if whole else costs.tiles
    chunks = [1]
    while groups < costs.tiles:
        chunks.append(ceil(costs.tiles / groups))
        groups *= 2
    found = [Items(chunk, order) for chunk in chunks for order in (by_weights, by_rows)]
    return min(found, key=lambda items: costs.cycles(items, items.order == by_rows))


class _ItemCosts:
    """Estimates what the distribution of tiles among work-items costs."""

    def __init__(self, model: ChannelTileModel) -> None:
        shape, tile = model.shape, model.best
        self._model, self._shape, self._tile = model, shape, tile
        self.cores = model.target.device.compute_units
        self.tiles = ceil(shape.width / tile.columns)
        """Tiles of a row."""
        self.rows = prod(shape.extents) // (shape.extents[shape.lane] * shape.width)
        self.panels = ceil(shape.count / tile.blocks)
        """Parts of the weights, each for the blocks of a tile."""

    def cycles(self, items: Items, by_rows: bool) -> float:
        """Return the cycles of all cores beyond those of the tiles.

        Work-items start, compute tiles that their neighbours compute as well, read from beyond L2,
        and the last one lets the other cores wait.
        """
        groups = ceil(self.tiles / items.chunk)
        count = self.rows * self.panels * groups
        again = count * items.chunk - self.rows * self.panels * self.tiles
        # The last one starts with others, or at the latest when all others run or are done.
        turns = (ceil(count / self.cores) + (count + self.cores - 1) / self.cores) / 2
        waiting = max(turns * self.cores - count, _WAIT * self.cores) * items.chunk
        tiles = (again + waiting) * self._model.cycles(self._tile)
        fetches = self._fetches(items, groups, by_rows) / MEMORY_BYTES_PER_CYCLE
        return count * _ITEM_START + tiles + fetches

    def _fetches(self, items: Items, groups: int, by_rows: bool) -> float:
        """Return the bytes that all cores read from beyond L2."""
        model, shape = self._model, self._shape
        room = _CACHE_SHARE * model.target.machine.l2_cache_bytes
        loads = shape.contraction.loads
        streams = [
            _stream(shape, self._tile, items.chunk, items.order, number, load)
            for number, load in enumerate(loads)
        ]
        fetched = traffic(streams, room, LINE_BYTES)
        # Several cores take the work-items that share weights, or rows, and each fetches these.
        sharing = self.panels if by_rows else self.rows * groups
        for load in loads:
            if (load.steps[shape.lane] == 0) == by_rows:
                fetched += (min(self.cores, sharing) - 1) * buffer_bytes(load.op.memref)
        return fetched / _WORTHWHILE if by_rows else fetched


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
    total, size = buffer_bytes(load.op.memref), element_bytes(load)
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
