"""Reductions with a tile of accumulators in registers: matmul, convolution, pooling on a CPU.

A work-item computes `rows` x `vectors` accumulators, each a vector along one spatial variable (the
column), over the whole reduction. Every step of the reduction loads a few vectors and a few scalars
and combines them all, so the loads are shared; that is how GotoBLAS-like kernels reach the peak of
a core (Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008).

Which variables become rows and columns, and how many of them, is a small search: every choice has a
cost in cycles by a simple model of the loads, the multiply-adds and the stores of one tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, prod
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i64
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from ....dialects import cl, tir
from ..schedule import Schedule
from ..schedule.analysis import accesses, memref_of, written
from ..schedule.errors import refuse
from .elementwise import bind_grid
from .stages import Stage, lane_step, reads_in_place, strides

_LOADS_PER_CYCLE = 2.0
_COMPUTES_PER_CYCLE = 2.0
_L2_BYTES_PER_CYCLE = 32.0
_LATENCY = 4.0
"""Cycles until an accumulator may be updated again."""
_LANE_CYCLES = 2.0
"""Cycles to load or store one lane of a vector by itself."""
_OTHER_REGISTERS = 4
"""Vector registers that hold operands while the others accumulate."""
_TILE_CYCLES = 20.0
_ITEM_CYCLES = 5000.0
"""A work-item should be worth at least this much, or starting it costs more than it does."""


@dataclass(frozen=True)
class Tile:
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

    def attribute(self) -> DictionaryAttr:
        """The choice as an attribute of the kernel: what a tuner reads, and may write instead."""
        return DictionaryAttr(
            {name: IntegerAttr(getattr(self, name), i64) for name in tir.TILE_PARAMETERS}
        )

    @staticmethod
    def of(func: tir.FuncOp) -> Tile | None:
        """The tile that the kernel's attribute `tile` asks for, if it has one."""
        if func.tile is None:
            return None
        row, rows, col, vectors, width = (
            cast(IntegerAttr, func.tile.data[name]).value.data for name in tir.TILE_PARAMETERS
        )
        return Tile(row, rows, col, vectors, width)


@dataclass(frozen=True)
class _Load:
    """A load of the reduction, as the cost model sees it."""

    op: memref.LoadOp
    steps: list[int | None]
    constant: int | None
    """Which constant parameter it reads, if any."""
    dims: list[int | None]
    """Which iteration variable each of its indices is, None for anything else."""


@dataclass(frozen=True)
class Problem:
    """One reduction and the output stage that consumes it element by element."""

    func: tir.FuncOp
    stage: Stage
    output: Stage
    target: cl.Target
    loads: list[_Load]
    store_steps: list[int | None]

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the spatial variables."""
        return self.stage.block.iter_extents[: len(self.output.loops)]

    @property
    def depth(self) -> int:
        """The number of steps of the reduction."""
        return prod(self.stage.block.iter_extents[len(self.output.loops) :])


def problem_of(
    func: tir.FuncOp, stages: list[Stage], outputs: list[Stage], target: cl.Target
) -> Problem | None:
    """The tiling problem of a kernel; None where it has another shape."""
    if len(stages) != 1 or len(outputs) != 1:
        return None
    (stage,), (output,) = stages, outputs
    if not stage.reduce or len(written(stage.block)) != 1:
        return None
    (buffer,) = written(stage.block)
    if memref_of(buffer).get_shape() != output.block.iter_extents:
        return None
    if stage.spatial != list(range(len(output.loops))) or not reads_in_place(stage, output):
        return None
    steps = strides(stage.block)
    loads = [
        _describe(func, stage.block, op, steps[op])
        for op in stage.block.loads()
        if op.memref is not buffer
    ]
    output_steps = strides(output.block)
    (store,) = output.block.stores()
    return Problem(func, stage, output, target, loads, output_steps[store])


def _describe(
    func: tir.FuncOp, block: tir.BlockOp, op: memref.LoadOp, steps: list[int | None]
) -> _Load:
    constants = {func.params[i]: i for i in func.constant_indices}
    (indices,) = (found for access, found in accesses(block, op.memref) if access is op)
    dims = [index.position if isinstance(index, AffineDimExpr) else None for index in indices]
    return _Load(op, steps, constants.get(op.memref), dims)


def best_tile(problem: Problem) -> Tile | None:
    """The tile the kernel asks for, else the cheapest candidate; None if nothing is a vector."""
    given = Tile.of(problem.func)
    if given is not None:
        rank = len(problem.extents)
        if max(given.row, given.col) >= rank:
            raise refuse(
                problem.func,
                f"its tile has variables {given.row} and {given.col}, but the result has {rank}",
            )
        return _costed(problem, given, _stores_rows(problem, given.col, given.width))
    return min(candidates(problem), key=lambda tile: _total(problem, tile), default=None)


def candidates(problem: Problem) -> Iterator[Tile]:
    """All tiles that fit into the registers and into the extents."""
    target, extents = problem.target, problem.extents
    accumulators = target.vector_registers - _OTHER_REGISTERS
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
                    yield _costed(problem, Tile(row, rows, col, vectors, width), rows_stored)


def is_packed(problem: Problem, load: _Load, tile: Tile, dim: int) -> bool:
    """Whether a constant's layout is changed so that the tile's part of `dim` is contiguous."""
    size = tile.cols if dim == tile.col else tile.rows
    if load.constant is None or load.dims.count(dim) != 1 or size == 1:
        return False
    # Under a guard a constant may be shorter than the loop that reads it.
    length = memref_of(load.op.memref).get_shape()[load.dims.index(dim)]
    return length == problem.extents[dim] and length % size == 0


def _stores_rows(problem: Problem, col: int, width: int) -> bool:
    """Whether a vector along a column is stored as one."""
    (store,) = problem.output.block.stores()
    return lane_step(problem.output.block, store, col, width) == 1


def _costed(problem: Problem, tile: Tile, rows_stored: bool) -> Tile:
    loads = traffic = 0.0
    gathers = False
    for load in problem.loads:
        copies = tile.rows if load.steps[tile.row] != 0 else 1
        step = load.steps[tile.col]
        elements = copies * (1 if step == 0 else tile.cols)
        if step == 0:
            each = 1.0
        elif step == 1 or is_packed(problem, load, tile, tile.col):
            each = float(tile.vectors)
        else:
            each = tile.cols * _LANE_CYCLES * _LOADS_PER_CYCLE
            gathers = True
        loads += copies * each
        # What one tile reads over the whole reduction comes from the second level if it is large.
        if elements * 4 * problem.depth > problem.target.l1_cache_bytes / 2:
            traffic += elements * 4
    accumulators = tile.rows * tile.vectors
    step_cycles = max(
        accumulators / _COMPUTES_PER_CYCLE,
        loads / _LOADS_PER_CYCLE,
        traffic / _L2_BYTES_PER_CYCLE,
        _LATENCY,
    )
    store = accumulators * (1.0 if rows_stored else tile.width * _LANE_CYCLES)
    cycles = problem.depth * step_cycles + store + _TILE_CYCLES
    return replace(tile, cycles=cycles, gathers=gathers)


def _total(problem: Problem, tile: Tile) -> float:
    tiles = ceil(problem.extents[tile.row] / tile.rows) * ceil(
        problem.extents[tile.col] / tile.cols
    )
    others = prod(problem.extents) / (problem.extents[tile.row] * problem.extents[tile.col])
    return tiles * others * tile.cycles


def apply_tile(schedule: Schedule, problem: Problem, tile: Tile) -> None:
    """Transform the kernel to compute one tile per step of a work-item."""
    schedule.func.tile = tile.attribute()
    pack_constants(schedule, problem, tile)
    loops = problem.output.loops
    tiles, row = schedule.split(loops[tile.row], tile.rows, overlap=True)
    row_chunks, rows = schedule.split(tiles, _chunk(problem, tile, tiles.size))
    cols, col = schedule.split(loops[tile.col], tile.cols, overlap=True)
    vectors, lanes = schedule.split(col, tile.width)
    places = {tile.row: row_chunks, tile.col: cols}
    grid = [places.get(i, loops[i]) for i in _grid_order(problem, tile)]
    schedule.reorder(*grid, rows, row, vectors, lanes)
    bind_grid(schedule, grid)
    inner = schedule.compute_at(problem.stage.block, rows)
    tile_reduction(schedule, problem, tile, inner)
    schedule.unroll(row)
    schedule.unroll(vectors)
    schedule.vectorize(lanes)
    schedule.keep_private(problem.stage.block)


def pack_constants(schedule: Schedule, problem: Problem, tile: Tile) -> None:
    """Lay constants out so that a tile walks straight through them."""
    done: set[int] = set()
    for load in problem.loads:
        for dim in (tile.col, tile.row):
            if not is_packed(problem, load, tile, dim) or load.constant in done:
                continue
            assert load.constant is not None
            done.add(load.constant)
            size = tile.cols if dim == tile.col else tile.rows
            shape = memref_of(load.op.memref).get_shape()
            position = load.dims.index(dim)
            rest = [i for i in range(len(shape)) if i != position]
            blocked = AffineExpr.dimension(position)
            layout = [blocked // size, *(AffineExpr.dimension(i) for i in rest), blocked % size]
            schedule.transform_layout(schedule.func.params[load.constant], layout)


def _chunk(problem: Problem, tile: Tile, row_tiles: int) -> int:
    """How many tiles of a column each work-item computes; a divisor, so that none is a rest."""
    tiles = prod(problem.extents) / (tile.rows * tile.cols)
    wanted = min(_ITEM_CYCLES / tile.cycles, tiles / (8 * problem.target.compute_units))
    divisors = [n for n in range(1, row_tiles + 1) if row_tiles % n == 0]
    return min(divisors, key=lambda n: abs(n - wanted))


def _grid_order(problem: Problem, tile: Tile) -> list[int]:
    """The spatial variables in the order in which work-items run through them, slowest first.

    The operand that does not fit into the cache should change least often: large weights are read
    once, small ones again and again.
    """
    weights = {load.constant: load for load in problem.loads if load.constant is not None}
    size = sum(4 * prod(memref_of(load.op.memref).get_shape()) for load in weights.values())
    of_weights = {
        i for load in weights.values() for i in range(len(problem.extents)) if load.steps[i] != 0
    }
    large = size > problem.target.l2_cache_bytes / 2
    rank = {i: (i in of_weights) != large for i in range(len(problem.extents))}
    return sorted(rank, key=lambda i: (rank[i], i == tile.col, i == tile.row))


def tile_reduction(
    schedule: Schedule, problem: Problem, tile: Tile, loops: list[tir.ForOp]
) -> None:
    """Run the reduction outside of the tile, and the tile in registers."""
    spatial, reduce = loops[: len(problem.extents)], loops[len(problem.extents) :]
    row = spatial[tile.row]
    vectors, lanes = schedule.split(spatial[tile.col], tile.width)
    others = [loop for i, loop in enumerate(spatial) if i not in (tile.row, tile.col)]
    schedule.reorder(*others, *reduce, row, vectors, lanes)
    schedule.unroll(row)
    schedule.unroll(vectors)
    if tile.width > 1:
        schedule.vectorize(lanes)
