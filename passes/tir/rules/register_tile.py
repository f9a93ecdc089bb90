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

from collections.abc import Sequence
from math import prod

from ....dialects import cl, tir
from ..schedule import Schedule
from ..schedule.analysis import memref_of
from .contraction import (
    CONSTANTS,
    NO_CONTRACTION,
    element_bytes,
    pack_constants,
    tile_reduction,
)
from .grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_size_parameter
from .naive_kernel import NaiveKernel
from .panels import PANEL, copy_panel, panel_domain, panel_load
from .partial_sums import PARTS, add_parts, parts_domain, tile_total
from .register_tile_costs import (
    Problem,
    RegisterTile,
    chunks,
    costed,
    cycles_by_rows,
    stores_rows,
    tiles_of_item,
    total_cycles,
)
from .row_structure import row_length
from .rule import Kernels, Rule
from .space import Choice, Misfit, Order, Parameter, Params, Range, Space

_WIDTHS = (2, 3, 4, 8, 16)


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[Problem] | Misfit:
    contraction = kernel.contraction
    if contraction is None:
        return Misfit(NO_CONTRACTION)
    extents = contraction.extents
    if len(extents) < 2 or max(extents) < 2:
        return Misfit("its result has no vector of columns, or no rows")
    problem = Problem(contraction, target)
    return Space(_parameters(problem), problem)


def _objection(space: Space[Problem]) -> str | None:
    problem = space.facts
    if problem.best is None:
        return "its result has no vector of columns as the device has them"
    walks_rows = row_length(problem.contraction.stage) >= 2 * problem.target.vector_width
    if walks_rows and problem.best.gathers:
        return "its reduction walks rows of memory, and a tile would gather vectors from them"
    if (
        walks_rows
        and problem.best.panel
        and total_cycles(problem, problem.best) > cycles_by_rows(problem)
    ):
        return "its reduction walks rows of memory, and too few use a panel of them"
    return None


def _parameters(problem: Problem) -> Sequence[Parameter]:
    extents, variables = problem.extents, range(len(problem.extents))

    def width(params: Params) -> Choice:
        return Choice(tuple(w for w in _WIDTHS if w <= extents[params.number("col")]))

    def vectors(params: Params) -> Range:
        fitting = extents[params.number("col")] // params.number("width")
        return Range(1, min(problem.accumulators, fitting))

    def row(params: Params) -> Choice:
        return Choice(tuple(i for i in variables if i != params.number("col")))

    def rows(params: Params) -> Range:
        fitting = problem.accumulators // params.number("vectors")
        return Range(1, min(fitting, extents[params.number("row")]))

    def chunk(params: Params) -> Choice:
        return Choice(tuple(chunks(problem, RegisterTile.shape(params))))

    def parts(params: Params) -> Choice:
        tile, chunk = RegisterTile.shape(params), params.number("chunk")
        return parts_domain(problem.contraction, tile, chunk, problem.target, alone(params))

    def panel(params: Params) -> Choice:
        tile, count = RegisterTile.shape(params), params.number(PARTS)
        return panel_domain(problem.contraction, tile, count, problem.target, alone(params))

    def alone(params: Params) -> bool:
        return prod(params.numbers(LOCAL_SIZE)) == 1

    columns = tuple(i for i in variables if extents[i] >= _WIDTHS[0])
    return (
        local_size_parameter(problem.target),
        Parameter("col", "the variable of the columns", Choice(columns)),
        Parameter("width", "lanes of a vector along the columns", width),
        Parameter("vectors", "vectors of a tile along the columns", vectors),
        Parameter("row", "the variable of the rows", row),
        Parameter("rows", "rows of a tile", rows),
        Parameter("chunk", "tiles of a column that a work-item computes", chunk),
        Parameter(PARTS, "parts of each sum, which a work-item adds up in its memory", parts),
        Parameter(PANEL, "whether a work-item copies the operand of the columns first", panel),
        Parameter("order", "the variables as work-items run through them", Order(len(extents))),
        CONSTANTS,
    )


def _default(space: Space[Problem]) -> Params:
    problem = space.facts
    tile = problem.best
    if tile is None:
        return next(space.points())
    return Params(
        {
            LOCAL_SIZE: DEFAULT_LOCAL_SIZE,
            "col": tile.col,
            "width": tile.width,
            "vectors": tile.vectors,
            "row": tile.row,
            "rows": tile.rows,
            "chunk": tiles_of_item(problem, tile),
            PARTS: tile.parts,
            PANEL: "packed" if tile.panel else "plain",
            "order": tuple(_grid_order(problem, tile)),
            "constants": "packed",
        }
    )


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    """Transform the kernel to compute one tile per step of a work-item."""
    contraction = kernel.contraction
    assert contraction is not None, "the rule fits"
    tile = RegisterTile.of(params)
    schedule.local_size(*params.numbers(LOCAL_SIZE))
    if params.word("constants") == "packed":
        pack_constants(schedule, contraction, tile)
    parts = params.number(PARTS)
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
    join_grid(schedule, kernel.borders, contraction.output)


def _grid_order(problem: Problem, tile: RegisterTile) -> list[int]:
    """The spatial variables in the order in which work-items run through them, slowest first.

    The operand that does not fit into the cache should change least often: large weights are read
    once, small ones again and again.
    """
    loads = problem.contraction.loads
    weights = {load.constant: load for load in loads if load.constant is not None}
    size = sum(
        element_bytes(load) * prod(memref_of(load.op.memref).get_shape())
        for load in weights.values()
    )
    of_weights = {
        i for load in weights.values() for i in range(len(problem.extents)) if load.steps[i] != 0
    }
    large = size > problem.target.l2_cache_bytes / 2
    rank = {i: (i in of_weights) != large for i in range(len(problem.extents))}
    return sorted(rank, key=lambda i: (rank[i], i == tile.col, i == tile.row))


def _cost(space: Space[Problem], params: Params) -> float:
    """Cycles of all tiles."""
    problem, tile = space.facts, RegisterTile.of(params)
    stored = stores_rows(problem, tile.col, tile.width)
    return total_cycles(problem, costed(problem, tile, stored))


REGISTER_TILE = Rule(
    "register-tile",
    3,
    Kernels(device="cpu", texels=False, reductions=True),
    _fit,
    _default,
    _apply,
    _cost,
    _objection,
)
"""How the loops of a part of the reduction nest needs no decision: registers hold the tile."""
