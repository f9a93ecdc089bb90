"""Reductions with a tile of accumulators in registers: matmul, convolution, pooling on a CPU.

A work-item computes `rows` x `vectors` accumulators, each a vector along one spatial variable (the
column), over the whole reduction. Every step of the reduction loads a few vectors and a few scalars
and combines them all, so the loads are shared; that is how GotoBLAS-like kernels reach the peak of
a core (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008).

Which variables become rows and columns, and how many of them, is a small search: every choice has a
cost in cycles by a simple model of the loads, the multiply-adds and the stores of one tile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, prod

from ....dialects import cl
from ..schedule import Schedule
from ..schedule.analysis import memref_of
from .contraction import (
    CONSTANTS,
    NO_CONTRACTION,
    Contraction,
    is_packed,
    pack_constants,
    tile_reduction,
)
from .grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_size_parameter
from .naive_kernel import NaiveKernel
from .row_structure import row_length
from .rule import Kernels, Rule
from .space import Choice, Misfit, Order, Parameter, Params, Range, Space
from .stages import lane_step

_OTHER_REGISTERS = 4
"""Vector registers that hold operands while the others accumulate."""
_WIDTHS = (2, 3, 4, 8, 16)


@dataclass(frozen=True)
class RegisterTile:
    """A register tile: `rows` of variable `row` by `vectors * width` of variable `col`."""

    row: int
    rows: int
    col: int
    vectors: int
    width: int
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
        return RegisterTile(row, rows, col, params.number("vectors"), params.number("width"))


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
        return Choice(tuple(_divisors(problem, RegisterTile.of(params))))

    columns = tuple(i for i in variables if extents[i] >= _WIDTHS[0])
    return (
        local_size_parameter(problem.target),
        Parameter("col", "the variable of the columns", Choice(columns)),
        Parameter("width", "lanes of a vector along the columns", width),
        Parameter("vectors", "vectors of a tile along the columns", vectors),
        Parameter("row", "the variable of the rows", row),
        Parameter("rows", "rows of a tile", rows),
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
            "chunk": _chunk(problem, tile),
            "order": tuple(_grid_order(problem, tile)),
            "constants": "packed",
        }
    )


def candidates(problem: Problem) -> Iterator[RegisterTile]:
    """All tiles that fit into the registers and into the extents."""
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
                for rows in range(1, min(accumulators // vectors, row_extent) + 1):
                    yield _costed(
                        problem, RegisterTile(row, rows, col, vectors, width), rows_stored
                    )


def _stores_rows(problem: Problem, col: int, width: int) -> bool:
    """Whether a vector along a column is stored as one."""
    (store,) = problem.contraction.output.block.stores()
    return lane_step(problem.contraction.output.block, store, col, width) == 1


def _costed(problem: Problem, tile: RegisterTile, rows_stored: bool) -> RegisterTile:
    target = problem.target
    loads = traffic = 0.0
    gathers = False
    for load in problem.contraction.loads:
        copies = tile.rows if load.steps[tile.row] != 0 else 1
        step = load.steps[tile.col]
        elements = copies * (1 if step == 0 else tile.cols)
        if step == 0:
            each = 1.0
        elif step == 1 or is_packed(problem.contraction, load, tile, tile.col):
            each = float(tile.vectors)
        else:
            each = tile.cols * target.lane_cycles * target.loads_per_cycle
            gathers = True
        loads += copies * each
        # What one tile reads over the whole reduction comes from the second level if it is large.
        if elements * 4 * problem.contraction.depth > target.l1_cache_bytes / 2:
            traffic += elements * 4
    accumulators = tile.rows * tile.vectors
    step_cycles = max(
        accumulators / target.mads_per_cycle,
        loads / target.loads_per_cycle,
        traffic / target.l2_bytes_per_cycle,
        target.mad_cycles,
    )
    store = accumulators * (1.0 if rows_stored else tile.width * target.lane_cycles)
    cycles = problem.contraction.depth * step_cycles + store + target.tile_cycles
    return replace(tile, cycles=cycles, gathers=gathers)


def _total(problem: Problem, tile: RegisterTile) -> float:
    tiles = ceil(problem.extents[tile.row] / tile.rows) * ceil(
        problem.extents[tile.col] / tile.cols
    )
    others = prod(problem.extents) / (problem.extents[tile.row] * problem.extents[tile.col])
    return tiles * others * tile.cycles


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
    inner = schedule.compute_at(contraction.stage.block, rows)
    tile_reduction(schedule, contraction, tile, inner)
    schedule.unroll(row)
    schedule.unroll(vectors)
    schedule.vectorize(lanes)
    schedule.keep_private(contraction.stage.block)
    join_grid(schedule, kernel.borders, contraction.output)


def _chunk(problem: Problem, tile: RegisterTile) -> int:
    """How many tiles of a column each work-item computes; a divisor, so that none is a rest."""
    tiles = prod(problem.extents) / (tile.rows * tile.cols)
    target = problem.target
    wanted = min(
        target.item_cycles / tile.cycles, tiles / (target.items_per_core * target.compute_units)
    )
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
    size = sum(4 * prod(memref_of(load.op.memref).get_shape()) for load in weights.values())
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
    1,
    Kernels(device="cpu", texels=False, reductions=True),
    _fit,
    _default,
    _apply,
    _cost,
    _objection,
)
"""How the loops of the reduction nest needs no decision: registers hold the whole tile."""
