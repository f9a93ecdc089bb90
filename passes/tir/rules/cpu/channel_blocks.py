"""Reductions to values in blocks of channels on a CPU: convolutions and pools.

A work-item computes some blocks of channels at some columns of a row, a vector of accumulators for
each. A convolution multiplies each element of the operand by vectors of weights, so it gathers
nothing. Borders need no padded copy: they are scalar tests outside of the loop over a block's
channels. The form is that of Georganas et al. ("Anatomy of High-Performance Deep Learning
Convolutions on SIMD Architectures", 2018).
"""

from __future__ import annotations

from .....dialects import cl, tir
from ...schedule import Schedule
from ..naive_kernel import NaiveKernel, whole_contraction
from ..rule import Needs, Rule
from ..shared.grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_sizes
from ..space import (
    Choice,
    Domains,
    NotApplicable,
    Params,
    Permutation,
    Range,
    Space,
    Value,
    number,
    numbers,
)
from .channel_tiles import BlockedReduction, ChannelTile, ChannelTileModel, reduce_in_tiles
from .item_order import items_of
from .streams import AHEAD, AHEAD_DOMAIN, ahead, fetch_ahead, stream_bytes

TILE_PARAMETERS = (
    LOCAL_SIZE,
    number("blocks", "blocks of channels of a tile"),
    number("columns", "columns of a tile"),
    number("chunk", "tiles of a row that a work-item computes"),
    number("window", "innermost loops of the window that are unrolled"),
    numbers("order", "the variables as work-items run through them"),
)
"""The parameters of all tiles of channels."""


def _structure(kernel: NaiveKernel) -> BlockedReduction | NotApplicable:
    contraction = kernel.once(whole_contraction)
    if isinstance(contraction, NotApplicable):
        return contraction
    return BlockedReduction.of(contraction)


def _domains(shape: BlockedReduction, target: cl.Target) -> Domains:
    return {**tile_domains(shape, target), AHEAD.name: AHEAD_DOMAIN}


def tile_domains(shape: BlockedReduction, target: cl.Target) -> Domains:
    """Return the domains of `TILE_PARAMETERS`."""

    def chunk(params: Params) -> Range:
        return Range(1, -(-shape.width // params.number("columns")))

    def window(params: Params) -> Choice:
        counts = range(len(shape.window) + 1)
        return Choice(tuple(n for n in counts if shape.has_room(_tile(params), n)))

    return {
        LOCAL_SIZE.name: local_sizes(target),
        "blocks": shape.most_blocks(),
        "columns": lambda params: shape.most_columns(params.number("blocks")),
        "chunk": chunk,
        "window": window,
        "order": Permutation(len(shape.extents)),
    }


def _tile(params: Params) -> ChannelTile:
    return ChannelTile(params.number("blocks"), params.number("columns"))


def _default(space: Space[BlockedReduction]) -> Params:
    shape, model = space.structure, space.model(ChannelTileModel)
    weights = stream_bytes(shape.contraction.func, shape.contraction.stage.block)
    distance = ahead(weights, model.best.blocks, space.target)
    return Params({**tile_default(model), AHEAD.name: distance})


def tile_default(model: ChannelTileModel) -> dict[str, Value]:
    """Return the values of `TILE_PARAMETERS` for the best tile of a model."""
    shape, tile = model.shape, model.best
    # The border tests stay outside of a loop over channels within the window.
    most = 1 if shape.term is not None else len(shape.window)
    window = min(most, shape.most_window(tile))
    is_of_images = model.images is not None and model.images.are(shape.width)
    items = items_of(model, whole=not is_of_images)
    return {
        LOCAL_SIZE.name: DEFAULT_LOCAL_SIZE,
        "blocks": tile.blocks,
        "columns": tile.columns,
        "chunk": items.chunk,
        "window": window,
        "order": items.order,
    }


def _apply(schedule: Schedule, shape: BlockedReduction, params: Params) -> None:
    apply_tiles(schedule, shape, params)
    fetch_ahead(schedule, shape.contraction.stage.block, params)


def apply_tiles(schedule: Schedule, shape: BlockedReduction, params: Params) -> None:
    """Compute some tiles of a row in each work-item."""
    tile = _tile(params)
    schedule.local_size(*params.numbers(LOCAL_SIZE.name))
    loops = dict(enumerate(shape.contraction.output.loops))
    loops[shape.lane], lanes = schedule.split(loops[shape.lane], shape.lanes)
    loops[shape.lane], blocks = schedule.split(loops[shape.lane], tile.blocks, overlap=True)
    chunk: list[tir.ForOp] = []
    columns: list[tir.ForOp] = []
    if shape.column is not None:
        # Work-items overlap, not only tiles: the tiles of a row may be a prime number.
        width = min(params.number("chunk") * tile.columns, shape.width)
        loops[shape.column], group = schedule.split(loops[shape.column], width, overlap=True)
        rest, column = schedule.split(group, tile.columns, overlap=True)
        chunk, columns = [rest], [column]
    grid = [loops[i] for i in params.numbers("order")]
    schedule.reorder(*grid, *chunk, *columns, blocks, lanes)
    bind_grid(schedule, grid)
    block = shape.contraction.stage.block
    around = (*columns, blocks)[0].parent_op()
    assert isinstance(around, tir.ForOp), "the variables are loops around the tile"
    reduce_in_tiles(schedule, shape, schedule.compute_at(block, around), params.number("window"))
    for loop in (*columns, blocks):
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    schedule.keep_private(block)
    join_grid(schedule, shape.contraction.borders, shape.contraction.output)


CHANNEL_BLOCKS = Rule(
    "channel-blocks",
    3,
    Needs(device="cpu", texels=False, reductions=True),
    (*TILE_PARAMETERS, AHEAD),
    _structure,
    _domains,
    _default,
    _apply,
)
"""The operands' layouts determine the innermost loop of the reduction."""
