"""The order of the work-items that compute tiles of channels, so that operands stay in caches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

from .....dialects import cl
from ...schedule.analysis import memref_of
from ..shared.contraction import OperandLoad, element_bytes
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
    by_weights = sorted(variables, key=lambda i: (i != 0, i != lane, i))
    by_rows = sorted(variables, key=lambda i: (i != 0, i == lane, i))
    room = _CACHE_SHARE * target.machine.l2_cache_bytes
    least = _fetched(shape, _axes(shape, tile, chunk, by_rows), tile, room)
    usual = _fetched(shape, _axes(shape, tile, chunk, by_weights), tile, room)
    return tuple(by_rows if least < _WORTHWHILE * usual else by_weights)


@dataclass(frozen=True)
class _TileLoop:
    """A loop over tiles."""

    variable: int
    trips: int


def _axes(
    shape: BlockedReduction, tile: ChannelTile, chunk: int, order: Sequence[int]
) -> list[_TileLoop]:
    """Return the loops around a tile: those over work-items, then the tiles of a work-item."""
    trips = dict(enumerate(shape.extents))
    trips[shape.lane] = ceil(shape.count / tile.blocks)
    if shape.column is None:
        return [_TileLoop(i, trips[i]) for i in order]
    trips[shape.column] = ceil(shape.width / tile.columns / chunk)
    return [*(_TileLoop(i, trips[i]) for i in order), _TileLoop(shape.column, chunk)]


def _fetched(
    shape: BlockedReduction, axes: Sequence[_TileLoop], tile: ChannelTile, room: float
) -> float:
    """Return the bytes read from beyond a cache that holds `room` bytes of the operands.

    The outermost loops whose body fits into the cache reuse what the iteration before has read;
    loops around these start anew.
    """
    loads = shape.contraction.loads
    depth = next(
        (
            d
            for d in range(len(axes))
            if sum(_footprint(shape, load, axes[d:], tile) for load in loads) <= room
        ),
        len(axes),
    )
    outer = max(0, depth - 1)
    while outer > 0 and axes[outer].trips == 1:
        outer -= 1
    again = prod(axis.trips for axis in axes[:outer])
    return again * sum(_footprint(shape, load, axes[outer:], tile) for load in loads)


def _footprint(
    shape: BlockedReduction, load: OperandLoad, axes: Sequence[_TileLoop], tile: ChannelTile
) -> int:
    """Return the bytes that some loops read of an operand, all terms of the sums included."""
    sizes = {
        i: shape.contraction.stage.block.iter_extents[i] for i in shape.contraction.stage.reduce
    }
    sizes[shape.lane] = tile.blocks * shape.lanes
    if shape.column is not None:
        sizes[shape.column] = tile.columns
    for axis in axes:
        sizes[axis.variable] = sizes.get(axis.variable, 1) * axis.trips
    read = prod(size for variable, size in sizes.items() if load.steps[variable] != 0)
    return element_bytes(load) * min(read, prod(memref_of(load.op.memref).get_shape()))
