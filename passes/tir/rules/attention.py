"""Attention on a CPU, a few queries at a time.

A work-item transposes some queries, so that they are the lanes of vectors. It multiplies the keys
by them, takes the softmax over the keys, where no lanes are added up, and multiplies what that
gives by the values. Nothing but the scores of these queries lies between the products, in memory of
the work-item that its caches hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from ....dialects import cl, tir
from ..schedule import Schedule
from .cpu import accumulators
from .grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_size_parameter
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Parameter, Params, Range, Space
from .stages import Stage

_MOST_ACCUMULATORS = 24
"""More than that, and compilers spill some of them."""
_WIDTHS = (2, 4, 8, 16)
_MOST_VECTORS = 2
"""Vectors of queries of a work-item: more of them need more memory, and gain nothing."""
_KEY_CYCLES = 30.0
"""Cycles of a key from the one product to the other: each step waits for the one before it."""
_WEIGHT_CYCLES = 10.0
"""Cycles that each vector of queries adds to that."""
_REDUCTIONS = [False, True, False, True, False, True, False, True]


@dataclass(frozen=True)
class _Shape:
    """The stages of a kernel, in program order, and their extents."""

    queries: Stage
    """The copy of the queries in which they are lanes."""
    products: Stage
    scores: Stage
    largest: Stage
    weights: Stage
    total: Stage
    shares: Stage
    weighted: Stage
    output: Stage

    @staticmethod
    def of(kernel: NaiveKernel) -> _Shape | Misfit:
        reason = Misfit("it is no softmax of scores between two products")
        if [bool(stage.reduce) for stage in kernel.producers] != _REDUCTIONS:
            return reason
        first, products, scores, largest, weights, total, shares, weighted = kernel.producers
        shape = _Shape(
            first, products, scores, largest, weights, total, shares, weighted, kernel.main
        )
        batch, depth = len(kernel.main.loops) - 2, shape.products.block.iter_extents[-1]
        near = shape.scores.block.iter_extents[:-2]
        points = (shape.keys, shape.count)
        results = (shape.count, shape.columns, shape.keys)
        is_attention = (
            batch >= 0
            and len(near) <= batch
            and len(shape.products.reduce) == 1 == len(shape.weighted.reduce)
            and shape.queries.block.iter_extents[-2:] == (depth, shape.count)
            and shape.products.block.iter_extents == (*near, *points, depth)
            and shape.weights.block.iter_extents == (*near, *points)
            and shape.weighted.block.iter_extents[batch:] == results
        )
        return shape if is_attention else reason

    @property
    def count(self) -> int:
        """The queries of a matrix."""
        return self.output.block.iter_extents[-2]

    @property
    def keys(self) -> int:
        """The keys of a matrix."""
        return self.scores.block.iter_extents[-2]

    @property
    def depth(self) -> int:
        """Elements of a query."""
        return self.products.block.iter_extents[-1]

    @property
    def columns(self) -> int:
        """Elements of a value."""
        return self.output.block.iter_extents[-1]

    @property
    def batch(self) -> int:
        """The matrices."""
        return prod(self.output.block.iter_extents[:-2])


@dataclass(frozen=True)
class _Choice:
    """The sizes of a work-item."""

    lanes: int
    vectors: int
    keys: int
    width: int
    columns: int
    rows: int

    @staticmethod
    def of(params: Params) -> _Choice:
        names = ("lanes", "vectors", "keys", "width", "columns", "rows")
        return _Choice(*(params.number(name) for name in names))

    @property
    def queries(self) -> int:
        """The queries of a work-item."""
        return self.lanes * self.vectors


@dataclass(frozen=True)
class _Problem:
    """The choice of the tiles."""

    shape: _Shape
    target: cl.Target

    @property
    def most(self) -> int:
        """Accumulators of a tile."""
        return accumulators(self.target, 2, _MOST_ACCUMULATORS)

    def vectors(self, lanes: int) -> Range:
        """Vectors of queries of a work-item."""
        return Range(1, min(_MOST_VECTORS, self.shape.count // lanes))

    def keys(self, vectors: int) -> Range:
        """Keys of a tile of scores."""
        return Range(1, min(self.shape.keys, self.most // vectors))

    def columns(self, width: int) -> tuple[int, ...]:
        """Vectors of a value in a tile of results: parts of a value, where vectors divide it."""
        whole, rest = divmod(self.shape.columns, width)
        counts = range(1, min(whole, self.most) + 1)
        return tuple(n for n in counts if rest or whole % n == 0)

    def rows(self, queries: int, columns: int) -> tuple[int, ...]:
        """Queries of a tile of results: parts of those of a work-item, none of which is a rest."""
        return tuple(n for n in range(1, self.most // columns + 1) if queries % n == 0)

    @cached_property
    def best(self) -> _Choice:
        """The cheapest choice."""
        return min(self._candidates(), key=self.cost)

    def cost(self, choice: _Choice) -> float:
        """Cycles until the last core is done, whatever else the cores do."""
        shape, target = self.shape, self.target
        items = shape.batch * -(-shape.count // choice.queries)
        scores = -(-shape.keys // choice.keys) * self._tile(
            choice.keys, choice.vectors, shape.depth
        )
        tiles = -(-choice.queries // choice.rows) * -(
            -shape.columns // (choice.width * choice.columns)
        )
        values = tiles * self._tile(choice.rows, choice.columns, shape.keys)
        weights = shape.keys * (_KEY_CYCLES + _WEIGHT_CYCLES * choice.vectors)
        copied = choice.queries * shape.depth * target.lane_cycles
        turns = (items + target.compute_units - 1) / target.compute_units
        return turns * (scores + values + weights + copied + target.item_cycles / 10)

    def _tile(self, rows: int, vectors: int, steps: int) -> float:
        """Cycles of a tile of so many rows of vectors."""
        target = self.target
        step = max(
            rows * vectors / target.mads_per_cycle,
            (rows + vectors) / target.loads_per_cycle,
            target.mad_cycles,
        )
        return steps * step + target.tile_cycles

    def _candidates(self) -> Iterator[_Choice]:
        lanes = max(w for w in _WIDTHS if w <= max(self.target.vector_width, 2))
        lanes = max(w for w in _WIDTHS if w <= min(lanes, self.shape.count))
        width = self._width(lanes)
        for vectors, columns in product(self.vectors(lanes), self.columns(width)):
            for keys, rows in product(self.keys(vectors), self.rows(lanes * vectors, columns)):
                yield _Choice(lanes, vectors, keys, width, columns, rows)

    def _width(self, lanes: int) -> int:
        """The widest vector that divides a value, or where that is narrow, the widest in one."""
        fitting = [w for w in _WIDTHS if w <= min(lanes, self.shape.columns)]
        even = [w for w in fitting if self.shape.columns % w == 0]
        widest = max(fitting)
        return max(even) if even and 2 * max(even) >= widest else widest


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Problem] | Misfit:
    shape = _Shape.of(kernel)
    if isinstance(shape, Misfit):
        return shape
    if min(shape.count, shape.columns) < _WIDTHS[0]:
        return Misfit("its queries or its values have no vector")
    problem = _Problem(shape, target)

    def widths(most: int) -> Choice:
        return Choice(tuple(w for w in _WIDTHS if w <= most))

    def rows(params: Params) -> Choice:
        queries = params.number("lanes") * params.number("vectors")
        return Choice(problem.rows(queries, params.number("columns")))

    parameters = (
        local_size_parameter(target),
        Parameter("lanes", "queries of a vector", widths(shape.count)),
        Parameter(
            "vectors",
            "vectors of queries of a work-item",
            lambda params: problem.vectors(params.number("lanes")),
        ),
        Parameter(
            "keys",
            "keys of a tile of scores",
            lambda params: problem.keys(params.number("vectors")),
        ),
        Parameter("width", "elements of a vector of values", widths(shape.columns)),
        Parameter(
            "columns",
            "vectors of a value in a tile of results",
            lambda params: Choice(problem.columns(params.number("width"))),
        ),
        Parameter("rows", "queries of a tile of results", rows),
    )
    return Space(parameters, problem)


def _default(space: Space[_Problem]) -> Params:
    return Params({LOCAL_SIZE: DEFAULT_LOCAL_SIZE, **vars(space.facts.best)})


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    shape, choice = _Shape.of(kernel), _Choice.of(params)
    assert isinstance(shape, _Shape), "the rule fits"
    schedule.local_size(*params.numbers(LOCAL_SIZE))
    *batch, queries, columns = shape.output.loops
    block, queries = schedule.split(queries, choice.queries, overlap=True)
    tiles, row = schedule.split(queries, choice.rows, overlap=True)
    strips, column = schedule.split(columns, choice.width * choice.columns, overlap=True)
    vectors, lanes = schedule.split(column, choice.width)
    schedule.reorder(*batch, block, tiles, strips, row, vectors, lanes)
    bind_grid(schedule, [*batch, block])
    item = tiles.parent_op()
    assert isinstance(item, tir.ForOp), "a work-item has a place in the grid"
    *outer, q, n, k = schedule.compute_at(shape.weighted.block, strips)
    inner, own = schedule.split(n, choice.width)
    schedule.reorder(*outer, k, q, inner, own)
    _in_registers(schedule, [q, inner], own)
    for stage in (shape.shares, shape.total, shape.weights, shape.largest):
        _over_queries(schedule, stage, item, choice)
    _multiply(schedule, shape, item, choice)
    *_, d, q = schedule.compute_at(shape.queries.block, item)
    schedule.reorder(q, d)
    _in_registers(schedule, [row, vectors], lanes)
    for stage in kernel.producers:
        schedule.keep_private(stage.block)
    join_grid(schedule, kernel.borders, shape.output)


def _in_registers(schedule: Schedule, tile: list[tir.ForOp], lanes: tir.ForOp) -> None:
    for loop in tile:
        schedule.unroll(loop)
    schedule.vectorize(lanes)


def _over_queries(schedule: Schedule, stage: Stage, loop: tir.ForOp, choice: _Choice) -> None:
    """All queries of a work-item for one key after the other."""
    loops = schedule.compute_at(stage.block, loop)
    last = stage.spatial[-1]
    queries = loops.pop(last)
    vectors, lanes = schedule.split(queries, choice.lanes)
    schedule.reorder(*loops, vectors, lanes)
    _in_registers(schedule, [vectors], lanes)


def _multiply(schedule: Schedule, shape: _Shape, loop: tir.ForOp, choice: _Choice) -> None:
    """Register tiles of scores: some keys by all queries of the work-item."""
    *outer, keys, queries = schedule.compute_at(shape.scores.block, loop)
    tiles, key = schedule.split(keys, choice.keys, overlap=True)
    vectors, lanes = schedule.split(queries, choice.lanes)
    schedule.reorder(*outer, tiles, key, vectors, lanes)
    *outer, k, q, d = schedule.compute_at(shape.products.block, tiles)
    inner, own = schedule.split(q, choice.lanes)
    schedule.reorder(*outer, d, k, inner, own)
    _in_registers(schedule, [k, inner], own)
    _in_registers(schedule, [key, vectors], lanes)


ATTENTION = Rule(
    "attention",
    1,
    Kernels(device="cpu", texels=False, reductions=True),
    _fit,
    _default,
    _apply,
    lambda space, params: space.facts.cost(_Choice.of(params)),
)
"""The softmax needs no decision: a vector of queries goes through all keys."""
