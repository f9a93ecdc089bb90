"""Work-items that compute tiles of channels: how many tiles each, and in which order they run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from .....machine.core import LINE_BYTES, MEMORY_BYTES_PER_CYCLE
from ....estimate.reuse import traffic
from ....estimate.work import BufferStream, LoopLevel, StreamAxis
from ..shared.contraction import OperandLoad, element_bytes
from ..stages import lane_step
from .beliefs import turns
from .channel_tiles import ChannelTileModel
from .streams import buffer_bytes

_CACHE_SHARE = 3 / 4
"""Share of the second cache that operands may take; results pass through it as well."""
_WORTHWHILE = 0.8
"""The share of bytes below which the order by rows is chosen (a guess)."""
_ITEM_START = 300.0
"""Cycles until a work-item has started and filled the pipelines and L1 (1x1 convolutions of 96
channels with 84 work-items, AVX-512)."""
_LEAST_PER_CORE = 4
"""Fewest work-items per core, if there are enough tiles."""
_WAIT = 0.5
"""Fewest work-items' time that a core waits at the end, because cores also do other work. A 1x1
convolution with 112 work-items takes .9 of its time with 8 (two cores, AVX-512)."""


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
    groups = ceil(least / (model.shape.rows * costs.panels)) if whole else costs.tiles
    chunks = [1]
    while groups < costs.tiles:
        chunks.append(ceil(costs.tiles / groups))
        groups = ceil(1.5 * groups)
    found = [Items(chunk, order) for chunk in chunks for order in (by_weights, by_rows)]
    return min(found, key=lambda items: costs.cycles(items, items.order == by_rows))


class _ItemCosts:
    """Estimates what the distribution of tiles among work-items costs."""

    def __init__(self, model: ChannelTileModel) -> None:
        shape, tile = model.shape, model.best
        self._model, self._shape, self._tile = model, shape, tile
        self._tile_cycles = model.cycles(tile)
        stage, term, loads = shape.contraction.stage, shape.term, shape.contraction.loads
        steps = (None if term is None else lane_step(stage, x.op, term, shape.lanes) for x in loads)
        self._operands = list(zip(loads, steps))
        """Each operand with its step between the channels that a block of the reduction adds up."""
        self.cores = model.target.device.compute_units
        self.tiles = ceil(shape.width / tile.columns)
        """Tiles of a row."""
        self.panels = ceil(shape.count / tile.blocks)
        """Parts of the weights, each for the blocks of a tile."""

    def cycles(self, items: Items, by_rows: bool) -> float:
        """Return the cycles of all cores beyond those of the tiles.

        These are starts, tiles that overlapping work-items recompute, reads from beyond L2, and
        cores that wait for the last work-item.
        """
        groups = ceil(self.tiles / items.chunk)
        count = self._shape.rows * self.panels * groups
        again = count * items.chunk - self._shape.rows * self.panels * self.tiles
        idle = turns(count, self.cores) * self.cores - count
        waiting = max(idle, _WAIT * self.cores) * items.chunk
        tiles = (again + waiting) * self._tile_cycles
        fetches = self._fetches(items, groups, by_rows) / MEMORY_BYTES_PER_CYCLE
        return count * _ITEM_START + tiles + fetches

    def _fetches(self, items: Items, groups: int, by_rows: bool) -> float:
        """Return the bytes that all cores read from beyond L2."""
        model, shape = self._model, self._shape
        room = _CACHE_SHARE * model.target.machine.l2_cache_bytes
        streams = [
            self._stream(items, number, load, step)
            for number, (load, step) in enumerate(self._operands)
        ]
        fetched = traffic(streams, room, LINE_BYTES)
        # Several cores take the work-items that share weights, or rows, and each fetches these.
        sharing = self.panels if by_rows else shape.rows * groups
        for load, _ in self._operands:
            if (load.steps[shape.lane] == 0) == by_rows:
                fetched += (min(self.cores, sharing) - 1) * buffer_bytes(load.op.memref)
        return fetched / _WORTHWHILE if by_rows else fetched

    def _stream(
        self, items: Items, number: int, load: OperandLoad, step: int | None
    ) -> BufferStream:
        """Return what all tiles read of an operand: loops over work-items, then those inside."""
        axes = (*self._around(items, load), *self._inside(load, step))
        total, size = buffer_bytes(load.op.memref), element_bytes(load)
        return BufferStream(number, total, size, axes, tuple(range(len(axes))), is_store=False)

    def _around(self, items: Items, load: OperandLoad) -> Iterator[StreamAxis]:
        """Yield the loops over work-items and over the tiles of one."""
        shape, steps = self._shape, load.steps
        column, columns = shape.column, self._tile.columns
        for i in items.order:
            if i == shape.lane:
                yield _axis(self.panels, 0 if steps[i] == 0 else None)
            elif i == column:
                groups = ceil(self.tiles / items.chunk)
                yield _axis(groups, steps[i], items.chunk * columns)
            else:
                yield _axis(shape.extents[i], steps[i])
        if column is not None:
            yield _axis(items.chunk, steps[column], columns)

    def _inside(self, load: OperandLoad, term_step: int | None) -> Iterator[StreamAxis]:
        """Yield the loops of a tile."""
        shape, steps, tile = self._shape, load.steps, self._tile
        is_shared = steps[shape.lane] == 0
        if shape.column is not None:
            yield _axis(tile.columns, steps[shape.column])
        yield _axis(tile.blocks, 0 if is_shared else None)
        yield _axis(shape.lanes, 0 if is_shared else 1)
        stage = shape.contraction.stage
        for i in stage.reduce:
            extent = stage.block.iter_extents[i]
            if i == shape.term:
                yield _axis(extent // shape.lanes, 0 if steps[i] == 0 else None)
                yield _axis(shape.lanes, term_step)
            else:
                yield _axis(extent, steps[i])


def _axis(size: int, step: int | None, times: int = 1) -> StreamAxis:
    return StreamAxis(size, None if step is None else step * times, LoopLevel.INNER)
