"""Reductions with a tile of accumulators in registers: matmul, convolution, pooling on a CPU.

A work-item computes `rows` x `vectors` accumulators, each a vector along one spatial variable (the
column), over the whole reduction. Every step of the reduction loads a few vectors and a few scalars
and combines them all, so the loads are shared; that is how GotoBLAS-like kernels reach the peak of
a core (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008).

The operand of the columns may come from a panel: a copy that a work-item makes in its own memory,
and walks once for each of its tiles (`panels.py`).

Which variables become rows and columns, and how many of them, is a small search: every choice has a
cost in cycles by a simple model of the loads, the multiply-adds and the stores of one tile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, gcd, prod

from ....dialects import cl, tir
from ..schedule import Schedule
from ..schedule.analysis import memref_of
from .contraction import (
    CONSTANTS,
    NO_CONTRACTION,
    Contraction,
    Load,
    element_bytes,
    is_packed,
    pack_constants,
    tile_reduction,
)
from .grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_size_parameter
from .naive_kernel import NaiveKernel
from .panels import PANEL, copy_cycles, copy_panel, is_far, panel_domain, panel_load
from .row_structure import row_length
from .rule import Kernels, Rule
from .space import Choice, Misfit, Order, Parameter, Params, Range, Space
from .stages import lane_step

_OTHER_REGISTERS = 4
"""Vector registers that hold operands while the others accumulate."""
_LINE = 64
"""Bytes of a line of a CPU's cache."""
_PAGE = 4096
"""Bytes of memory whose lines have different places in the first cache: it has 64 sets."""
_WIDTHS = (2, 3, 4, 8, 16)


@dataclass(frozen=True)
class RegisterTile:
    """A register tile: `rows` of variable `row` by `vectors * width` of variable `col`."""

    row: int
    rows: int
    col: int
    vectors: int
    width: int
    panel: bool = False
    """Whether the columns' operand comes from a panel."""
    cycles: float = 0.0
    """The estimated cost of one tile."""
    gathers: bool = False
    """Whether some vector is loaded lane by lane in every step."""

    @property
    def cols(self) -> int:
        """Elements of a row."""
        return self.vectors * self.width

    @staticmethod
    def of(params: Params) -> RegisterTile:
        """The tile of a plan."""
        row, rows, col = (params.number(name) for name in ("row", "rows", "col"))
        vectors, width = params.number("vectors"), params.number("width")
        return RegisterTile(row, rows, col, vectors, width, params.word(PANEL) == "packed")


@dataclass(frozen=True)
class Problem:
    """What a tile depends on."""

    contraction: Contraction
    target: cl.Target

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the spatial variables."""
        return self.contraction.extents

    @property
    def accumulators(self) -> int:
        """Vectors that a tile can have."""
        return self.target.vector_registers - _OTHER_REGISTERS

    @cached_property
    def best(self) -> RegisterTile | None:
        """The cheapest tile; None if nothing is a vector."""
        return min(candidates(self), key=lambda tile: _total(self, tile), default=None)


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
    if walks_rows and problem.best.panel and _total(problem, problem.best) > _by_rows(problem):
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

    def panel(params: Params) -> Choice:
        row, col, width = (params.number(name) for name in ("row", "col", "width"))
        tile = RegisterTile(row, params.number("rows"), col, params.number("vectors"), width)
        alone = prod(params.numbers(LOCAL_SIZE)) == 1
        return panel_domain(problem.contraction, tile, problem.target, alone)

    def chunk(params: Params) -> Choice:
        return Choice(tuple(_divisors(problem, RegisterTile.of(params))))

    columns = tuple(i for i in variables if extents[i] >= _WIDTHS[0])
    return (
        local_size_parameter(problem.target),
        Parameter("col", "the variable of the columns", Choice(columns)),
        Parameter("width", "lanes of a vector along the columns", width),
        Parameter("vectors", "vectors of a tile along the columns", vectors),
        Parameter("row", "the variable of the rows", row),
        Parameter("rows", "rows of a tile", rows),
        Parameter(PANEL, "whether a work-item copies the operand of the columns first", panel),
        Parameter("chunk", "tiles of a column that a work-item computes", chunk),
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
            PANEL: "packed" if tile.panel else "plain",
            "chunk": _chunk(problem, tile),
            "order": tuple(_grid_order(problem, tile)),
            "constants": "packed",
        }
    )


def candidates(problem: Problem) -> Iterator[RegisterTile]:
    """All tiles that fit into the registers and into the extents, each with and without a panel."""
    target, extents = problem.target, problem.extents
    accumulators = problem.accumulators
    for col, col_extent in enumerate(extents):
        width = target.vector_width
        while width > col_extent:
            width //= 2
        if width < 2:
            continue
        rows_stored = _stores_rows(problem, col, width)
        for vectors in range(1, min(accumulators, col_extent // width) + 1):
            for row, row_extent in enumerate(extents):
                if row == col:
                    continue
                shape = RegisterTile(row, 1, col, vectors, width)
                panels = tuple(panel_domain(problem.contraction, shape, target, alone=True))
                for rows in range(1, min(accumulators // vectors, row_extent) + 1):
                    for panel in panels:
                        tile = replace(shape, rows=rows, panel=panel == "packed")
                        yield _costed(problem, tile, rows_stored)


def _stores_rows(problem: Problem, col: int, width: int) -> bool:
    """Whether a vector along a column is stored as one."""
    (store,) = problem.contraction.output.block.stores()
    return lane_step(problem.contraction.output.block, store, col, width) == 1


def _costed(problem: Problem, tile: RegisterTile, rows_stored: bool) -> RegisterTile:
    target = problem.target
    loads = traffic = far = 0.0
    gathers = False
    served = panel_load(problem.contraction, tile)
    for load in problem.contraction.loads:
        copies = tile.rows if load.steps[tile.row] != 0 else 1
        step = load.steps[tile.col]
        elements = copies * (1 if step == 0 else tile.cols)
        if step == 0:
            each = 1.0
        elif (
            step == 1
            or (tile.panel and load is served)
            or is_packed(problem.contraction, load, tile, tile.col)
        ):
            each = float(tile.vectors)
        else:
            each = tile.cols * target.lane_cycles * target.loads_per_cycle
            gathers = True
        loads += copies * each
        # What one tile reads over the whole reduction comes from the second level if it is large.
        size = elements * element_bytes(load)
        if size * problem.contraction.depth > target.l1_cache_bytes / 2:
            traffic += size
        if _evicts_itself(problem, load, tile):
            traffic += copies * _LINE
        if load is served and not tile.panel and is_far(problem.contraction, load, target):
            far += size
    accumulators = tile.rows * tile.vectors
    step_cycles = max(
        accumulators / target.mads_per_cycle,
        loads / target.loads_per_cycle,
        traffic / target.l2_bytes_per_cycle,
        target.mad_cycles,
    )
    # Arithmetic does not hide these: each step reads another page.
    step_cycles += far / target.memory_bytes_per_cycle
    store = accumulators * (1.0 if rows_stored else tile.width * target.lane_cycles)
    cycles = problem.contraction.depth * step_cycles + store + target.tile_cycles
    return replace(tile, cycles=cycles, gathers=gathers)


def _evicts_itself(problem: Problem, load: Load, tile: RegisterTile) -> bool:
    """Whether the rows of a tile are too many lines of memory for their place in the first cache.

    Each is walked one element a step, along the reduction. Lines whose distance is a multiple of a
    page share one set, which has room for as many as the cache has pages; at half of that distance
    there are two sets, and so on.
    """
    step = load.steps[tile.row]
    walked = load.steps[problem.contraction.stage.reduce[-1]] == 1
    if not step or not walked or is_packed(problem.contraction, load, tile, tile.row):
        return False
    pitch = step * element_bytes(load)
    sets = _PAGE // gcd(pitch, _PAGE)
    return pitch >= _LINE and tile.rows > sets * (problem.target.l1_cache_bytes // _PAGE)


def _total(problem: Problem, tile: RegisterTile) -> float:
    tiles = ceil(problem.extents[tile.row] / tile.rows) * ceil(
        problem.extents[tile.col] / tile.cols
    )
    others = prod(problem.extents) / (problem.extents[tile.row] * problem.extents[tile.col])
    return tiles * others * (tile.cycles + _copy(problem, tile) / _chunk(problem, tile))


def _by_rows(problem: Problem) -> float:
    """The cycles of each result by itself, with vectors along a row of memory."""
    target = problem.target
    steps = problem.contraction.depth / target.vector_width
    return prod(problem.extents) * (steps * target.mad_cycles + target.tile_cycles)


def _copy(problem: Problem, tile: RegisterTile) -> float:
    """The cycles of the copy that a work-item makes."""
    load = panel_load(problem.contraction, tile) if tile.panel else None
    if load is None:
        return 0.0
    return copy_cycles(problem.contraction, load, tile, problem.target)


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    """Transform the kernel to compute one tile per step of a work-item."""
    contraction = kernel.contraction
    assert contraction is not None, "the rule fits"
    tile = RegisterTile.of(params)
    schedule.local_size(*params.numbers(LOCAL_SIZE))
    if params.word("constants") == "packed":
        pack_constants(schedule, contraction, tile)
    loops = contraction.output.loops
    tiles, row = schedule.split(loops[tile.row], tile.rows, overlap=True)
    row_chunks, rows = schedule.split(tiles, params.number("chunk"))
    cols, col = schedule.split(loops[tile.col], tile.cols, overlap=True)
    vectors, lanes = schedule.split(col, tile.width)
    places = {tile.row: row_chunks, tile.col: cols}
    grid = [places.get(i, loops[i]) for i in params.numbers("order")]
    schedule.reorder(*grid, rows, row, vectors, lanes)
    bind_grid(schedule, grid)
    item = rows.parent_op()
    assert isinstance(item, tir.ForOp), "a result has rows and columns"
    inner = schedule.compute_at(contraction.stage.block, rows)
    tile_reduction(schedule, contraction, tile, inner)
    load = panel_load(contraction, tile)
    if tile.panel and load is not None:
        copy_panel(schedule, contraction, load, tile, item)
    schedule.unroll(row)
    schedule.unroll(vectors)
    schedule.vectorize(lanes)
    schedule.keep_private(contraction.stage.block)
    join_grid(schedule, kernel.borders, contraction.output)


def _chunk(problem: Problem, tile: RegisterTile) -> int:
    """How many tiles of a column each work-item computes; a divisor, so that none is a rest."""
    tiles = prod(problem.extents) / (tile.rows * tile.cols)
    target = problem.target
    wanted = tiles / (target.items_per_core * target.compute_units)
    if not tile.panel:
        wanted = min(target.item_cycles / tile.cycles, wanted)
    return min(_divisors(problem, tile), key=lambda n: abs(n - wanted))


def _divisors(problem: Problem, tile: RegisterTile) -> list[int]:
    tiles = ceil(problem.extents[tile.row] / tile.rows)
    return [n for n in range(1, tiles + 1) if tiles % n == 0]


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
    stored = _stores_rows(problem, tile.col, tile.width)
    return _total(problem, _costed(problem, tile, stored))


REGISTER_TILE = Rule(
    "register-tile",
    2,
    Kernels(device="cpu", texels=False, reductions=True),
    _fit,
    _default,
    _apply,
    _cost,
    _objection,
)
"""How the loops of the reduction nest needs no decision: registers hold the whole tile."""
