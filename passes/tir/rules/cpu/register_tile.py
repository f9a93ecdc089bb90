"""Reductions with a tile of accumulators in registers: matmul, convolution, pooling on a CPU.

A work-item computes `rows` x `vectors` accumulators, each a vector along one spatial variable (the
column), over the whole reduction. Every step of the reduction loads a few vectors and a few scalars
and combines them all, so the loads are shared; that is how GotoBLAS-like kernels reach the peak of
a core (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008).

The operand of the columns may come from a panel: a copy that a work-item makes in its own memory,
and walks once for each of its tiles (`panels.py`). A work-item may also compute parts of the sums
of all of its tiles in turn, so that a deep reduction stays in the caches (`partial_sums.py`).

Which variables become rows and columns, and how many of them, is a small search: every choice has a
cost in cycles (`register_tile_costs.py`).
"""

from __future__ import annotations

from math import prod

from .....dialects import cl, tir
from ...schedule import Schedule
from ...schedule.analysis import memref_of
from ..naive_kernel import NaiveKernel, whole_contraction
from ..rule import Needs, Rule
from ..shared.contraction import (
    CONSTANTS,
    CONSTANTS_DOMAIN,
    Contraction,
    element_bytes,
    pack_constants,
    tile_reduction,
)
from ..shared.grid import (
    DEFAULT_LOCAL_SIZE,
    LOCAL_SIZE,
    MOST_PRIVATE,
    bind_grid,
    join_grid,
    local_sizes,
)
from ..shared.row_structure import row_length
from ..space import (
    Choice,
    Domains,
    NotApplicable,
    Params,
    Permutation,
    Range,
    Space,
    number,
    numbers,
)
from .beliefs import MOST_SUMS
from .panels import PANEL, copy_panel, panel_domain, panel_load
from .partial_sums import PARTS, add_parts, parts_domain, sums_bytes, tile_total
from .register_tile_model import (
    RegisterTile,
    RegisterTileModel,
    chunks,
    cycles_by_rows,
    tiles_of_item,
    total_cycles,
)
from .streams import AHEAD, AHEAD_DOMAIN, ahead, fetch_ahead, stream_bytes

_WIDTHS = (2, 3, 4, 8, 16)


PARAMETERS = (
    LOCAL_SIZE,
    number("col", "the variable of the columns"),
    number("width", "lanes of a vector along the columns"),
    number("vectors", "vectors of a tile along the columns"),
    number("row", "the variable of the rows"),
    number("rows", "rows of a tile"),
    number("chunk", "tiles of a column that a work-item computes"),
    PARTS,
    PANEL,
    numbers("order", "the variables as work-items run through them"),
    CONSTANTS,
    AHEAD,
)


def _structure(kernel: NaiveKernel) -> Contraction | NotApplicable:
    contraction = kernel.once(whole_contraction)
    if isinstance(contraction, NotApplicable):
        return contraction
    extents = contraction.extents
    if len(extents) < 2 or max(extents) < 2:
        return NotApplicable("its result has no vector of columns, or no rows")
    return contraction


def _domains(contraction: Contraction, target: cl.Target) -> Domains:
    extents, variables = contraction.extents, range(len(contraction.extents))

    def width(params: Params) -> Choice:
        return Choice(tuple(w for w in _WIDTHS if w <= extents[params.number("col")]))

    def vectors(params: Params) -> Range:
        fitting = extents[params.number("col")] // params.number("width")
        return Range(1, min(MOST_SUMS, fitting))

    def row(params: Params) -> Choice:
        return Choice(tuple(i for i in variables if i != params.number("col")))

    def rows(params: Params) -> Range:
        fitting = MOST_SUMS // params.number("vectors")
        return Range(1, min(fitting, extents[params.number("row")]))

    def chunk(params: Params) -> Choice:
        return Choice(tuple(chunks(contraction, RegisterTile.shape(params))))

    def room(params: Params) -> int:
        return MOST_PRIVATE // prod(params.numbers(LOCAL_SIZE.name))

    def parts(params: Params) -> Choice:
        tile = RegisterTile.shape(params)
        return parts_domain(contraction, tile, params.number("chunk"), room(params))

    def panel(params: Params) -> Choice:
        tile, count = RegisterTile.shape(params), params.number(PARTS.name)
        sums = sums_bytes(contraction, tile, params.number("chunk")) if count > 1 else 0
        return panel_domain(contraction, tile, count, room(params) - sums)

    return {
        LOCAL_SIZE.name: local_sizes(target),
        "col": Choice(tuple(i for i in variables if extents[i] >= _WIDTHS[0])),
        "width": width,
        "vectors": vectors,
        "row": row,
        "rows": rows,
        "chunk": chunk,
        PARTS.name: parts,
        PANEL.name: panel,
        "order": Permutation(len(extents)),
        CONSTANTS.name: CONSTANTS_DOMAIN,
        AHEAD.name: AHEAD_DOMAIN,
    }


def _objection(space: Space[Contraction]) -> str | None:
    model, target = space.model(RegisterTileModel), space.target
    if model.best is None:
        return "its result has too few columns for the device's vectors"
    walks_rows = row_length(space.structure.stage) >= 2 * target.machine.vector_width
    if walks_rows and model.best.gathers:
        return "its reduction walks rows of memory, and a tile would gather vectors from them"
    if walks_rows and model.best.panel and total_cycles(model, model.best) > cycles_by_rows(model):
        return "its reduction walks rows of memory, and too few tiles would use a panel"
    return None


def _default(space: Space[Contraction]) -> Params:
    model = space.model(RegisterTileModel)
    tile = model.best
    if tile is None:
        return next(space.points())
    return Params(
        {
            LOCAL_SIZE.name: DEFAULT_LOCAL_SIZE,
            "col": tile.col,
            "width": tile.width,
            "vectors": tile.vectors,
            "row": tile.row,
            "rows": tile.rows,
            "chunk": tiles_of_item(model, tile),
            PARTS.name: tile.parts,
            PANEL.name: "packed" if tile.panel else "plain",
            "order": tuple(_grid_order(model, tile)),
            CONSTANTS.name: "packed",
            AHEAD.name: _ahead(model, tile),
        }
    )


def _ahead(model: RegisterTileModel, tile: RegisterTile) -> int:
    """Return the distance at which a tile should fetch weights that fill its columns."""
    contraction, target = model.contraction, model.target
    loads = [load for load in contraction.loads if load.constant is not None]
    if tile.parts > 1 or len(loads) != 1 or not loads[0].steps[tile.col]:
        return 0
    return ahead(stream_bytes(contraction.func, contraction.stage.block), 1, target)


def _apply(schedule: Schedule, contraction: Contraction, params: Params) -> None:
    """Transform the kernel to compute one tile per step of a work-item."""
    tile = RegisterTile.of(params)
    schedule.local_size(*params.numbers(LOCAL_SIZE.name))
    if params.word(CONSTANTS.name) == "packed":
        pack_constants(schedule, contraction, tile)
    parts = params.number(PARTS.name)
    total = add_parts(schedule, contraction, parts) if parts > 1 else None
    loops = contraction.output.loops
    chunk = params.number("chunk")
    if total is not None:
        row_chunks, chunk_rows = schedule.split(loops[tile.row], tile.rows * chunk, overlap=True)
        rows, row = schedule.split(chunk_rows, tile.rows)
    else:
        tiles, row = schedule.split(loops[tile.row], tile.rows, overlap=True)
        row_chunks, rows = schedule.split(tiles, chunk)
    cols, col = schedule.split(loops[tile.col], tile.cols, overlap=True)
    vectors, lanes = schedule.split(col, tile.width)
    places = {tile.row: row_chunks, tile.col: cols}
    grid = [places.get(i, loops[i]) for i in params.numbers("order")]
    schedule.reorder(*grid, rows, row, vectors, lanes)
    bind_grid(schedule, grid)
    item = rows.parent_op()
    assert isinstance(item, tir.ForOp), "a result has rows and columns"
    place = rows
    if total is not None:
        item, place = tile_total(schedule, contraction, tile, total, item)
    inner = schedule.compute_at(contraction.stage.block, place)
    tile_reduction(schedule, contraction, tile, inner)
    load = panel_load(contraction, tile)
    if tile.panel and load is not None:
        copy_panel(schedule, contraction, load, tile, item)
    schedule.unroll(row)
    schedule.unroll(vectors)
    schedule.vectorize(lanes)
    schedule.keep_private(contraction.stage.block)
    fetch_ahead(schedule, contraction.stage.block, params)
    join_grid(schedule, contraction.borders, contraction.output)


def _grid_order(model: RegisterTileModel, tile: RegisterTile) -> list[int]:
    """Return the spatial variables in the order of the work-items, slowest first.

    The operand that does not fit the cache should change least often: large weights are then read
    only once.
    """
    loads = model.contraction.loads
    weights = {load.constant: load for load in loads if load.constant is not None}
    size = sum(
        element_bytes(load) * prod(memref_of(load.op.memref).get_shape())
        for load in weights.values()
    )
    of_weights = {
        i for load in weights.values() for i in range(len(model.extents)) if load.steps[i] != 0
    }
    large = size > model.target.machine.l2_cache_bytes / 2
    rank = {i: (i in of_weights) != large for i in range(len(model.extents))}
    return sorted(rank, key=lambda i: (rank[i], i == tile.col, i == tile.row))


REGISTER_TILE = Rule(
    "register-tile",
    4,
    Needs(device="cpu", texels=False, reductions=True),
    PARAMETERS,
    _structure,
    _domains,
    _default,
    _apply,
    _objection,
)
"""The nest of a part of the reduction has no parameters, because registers hold the tile."""
