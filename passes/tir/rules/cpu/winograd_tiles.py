"""Convolutions by Winograd's transforms on a CPU, a strip of tiles at a time.

A work-item transforms the tiles of a strip, multiplies them by the weights of some blocks of
channels, and transforms the products back, block by block. Between the transforms there is only the
strip, in private memory that fits the caches. Channels are the lanes, so a transform adds whole
vectors.
"""

from __future__ import annotations

from math import prod

from .....dialects import cl, tir
from ...schedule import Schedule
from ..rule import Needs, Rule
from ..shared.grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_sizes
from ..space import Choice, Domains, Params, Range, Space, number
from ..stages import KernelStage
from .beliefs import MOST_SUMS
from .streams import AHEAD, AHEAD_DOMAIN, fetch_ahead
from .winograd_model import WinogradModel, WinogradSizes, WinogradStages

PARAMETERS = (
    LOCAL_SIZE,
    number("lanes", "channels of a vector"),
    number("rows", "rows of tiles of a strip"),
    number("cols", "tiles of such a row"),
    number("blocks", "vectors of channels of a register tile"),
    number("parts", "work-items that share the channels of a strip"),
    number("tile_rows", "rows of tiles of a register tile"),
    number("tile_cols", "tiles of such a row"),
    AHEAD,
)


def _domains(shape: WinogradStages, target: cl.Target) -> Domains:
    def group(params: Params) -> int:
        return prod(params.numbers(LOCAL_SIZE.name))

    def rows(params: Params) -> Choice:
        return Choice(shape.rows(shape.most_tiles(group(params))))

    def cols(params: Params) -> Choice:
        return Choice(shape.cols(params.number("rows"), shape.most_tiles(group(params))))

    def blocks(params: Params) -> Choice:
        tiles = params.number("rows") * params.number("cols") * group(params)
        return Choice(shape.blocks(params.number("lanes"), tiles, MOST_SUMS))

    def parts(params: Params) -> Choice:
        return Choice(shape.parts(params.number("lanes"), params.number("blocks")))

    def tile_rows(params: Params) -> Range:
        return Range(1, min(params.number("rows"), MOST_SUMS // params.number("blocks")))

    def tile_cols(params: Params) -> Range:
        used = params.number("blocks") * params.number("tile_rows")
        return Range(1, min(params.number("cols"), MOST_SUMS // used))

    return {
        LOCAL_SIZE.name: local_sizes(target, shape.item_bytes),
        "lanes": Choice(shape.widths),
        "rows": rows,
        "cols": cols,
        "blocks": blocks,
        "parts": parts,
        "tile_rows": tile_rows,
        "tile_cols": tile_cols,
        AHEAD.name: AHEAD_DOMAIN,
    }


def _default(space: Space[WinogradStages]) -> Params:
    model = space.model(WinogradModel)
    distance = model.ahead(model.best.blocks)
    return Params({LOCAL_SIZE.name: DEFAULT_LOCAL_SIZE, **vars(model.best), AHEAD.name: distance})


def _apply(schedule: Schedule, shape: WinogradStages, params: Params) -> None:
    choice = WinogradSizes.of(params)
    schedule.local_size(*params.numbers(LOCAL_SIZE.name))
    copy = schedule.cache_write(shape.products.block, tir.Scope.Private)
    n, o, h, w = shape.output.loops
    o, lanes = schedule.split(o, choice.lanes)
    o, block = schedule.split(o, choice.blocks)
    part, group = schedule.split(o, o.size // choice.parts)
    strip, h = schedule.split(h, shape.tile * choice.rows)
    row, i = schedule.split(h, shape.tile)
    column, w = schedule.split(w, shape.tile * choice.cols)
    col, j = schedule.split(w, shape.tile)
    grid = [n, part, strip, column]
    schedule.reorder(*grid, group, row, col, block, i, j, lanes)
    bind_grid(schedule, grid)
    item = group.parent_op()
    assert isinstance(item, tir.ForOp), "the variables are loops around the group"
    _transform(schedule, shape.results, block, choice)
    _multiply(schedule, shape, copy, group, choice)
    _transform(schedule, shape.tiles, item, choice)
    for loop in (i, j):
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    for each in (shape.tiles.block, copy, shape.results.block):
        schedule.keep_private(each)
    fetch_ahead(schedule, shape.products.block, params)
    join_grid(schedule, shape.kernel.borders, shape.output)


def _transform(
    schedule: Schedule, stage: KernelStage, loop: tir.ForOp, choice: WinogradSizes
) -> None:
    """Compute whole tiles of a vector of channels at a time."""
    *places, channels = schedule.compute_at(stage.block, loop)
    channels, lanes = schedule.split(channels, choice.lanes)
    schedule.reorder(*places, channels, lanes)
    schedule.vectorize(lanes)


def _multiply(
    schedule: Schedule,
    shape: WinogradStages,
    copy: tir.BlockOp,
    loop: tir.ForOp,
    choice: WinogradSizes,
) -> None:
    """Multiply register tiles: some tiles of the strip by some vectors of channels."""
    at, n, row, col, channels = schedule.compute_at(copy, loop)
    blocks, lanes = schedule.split(channels, choice.lanes)
    rows, row = schedule.split(row, choice.tile_rows, overlap=True)
    cols, col = schedule.split(col, choice.tile_cols, overlap=True)
    schedule.reorder(at, n, rows, cols, row, col, blocks, lanes)
    loops = schedule.compute_at(shape.products.block, cols)
    for each in (row, col, blocks):
        schedule.unroll(each)
    schedule.vectorize(lanes)
    at, n, row, col, channels, term = loops
    blocks, lanes = schedule.split(channels, choice.lanes)
    terms, term = schedule.split(term, choice.lanes)
    schedule.reorder(at, n, terms, term, row, col, blocks, lanes)
    for each in (row, col, blocks):
        schedule.unroll(each)
    schedule.vectorize(lanes)


WINOGRAD_TILES = Rule(
    "winograd-tiles",
    2,
    Needs(device="cpu", texels=False, reductions=True),
    PARAMETERS,
    WinogradStages.of,
    _domains,
    _default,
    _apply,
)
"""A strip has whole rows of tiles, or equal parts of one row, so that none is partial."""
