"""Attention on a CPU, a few queries at a time.

A work-item transposes a few queries, so that queries are the lanes of its vectors. It multiplies
the keys by them, takes the softmax over the keys, which adds no lanes to each other, and multiplies
the result by the values. Only the scores of these queries are kept between the products, in private
memory that fits the caches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from .....dialects import cl, tir
from .....machine.core import LANE_CYCLES, LOADS_PER_CYCLE, MAD_CYCLES, mads_per_cycle
from ...schedule import Schedule
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_sizes
from ..space import Choice, Domains, NotApplicable, Params, Range, Space, number
from ..stages import KernelStage
from .beliefs import ITEM_CYCLES, MOST_SUMS, TILE_CYCLES, accumulators

_MOST_ACCUMULATORS = 24
"""With more accumulators, compilers spill some."""
_WIDTHS = (2, 4, 8, 16)
_MOST_VECTORS = 2
"""Most vectors of queries per work-item; more take more memory without gain."""
_KEY_CYCLES = 30.0
"""Cycles per key between the two products, whose steps wait for each other."""
_WEIGHT_CYCLES = 10.0
"""Cycles that each vector of queries adds to that."""
_ROLES = ("queries", "products", "scores", "largest", "weights", "total", "shares", "weighted")


PARAMETERS = (
    LOCAL_SIZE,
    number("lanes", "queries of a vector"),
    number("vectors", "vectors of queries of a work-item"),
    number("keys", "keys of a tile of scores"),
    number("width", "elements of a vector of values"),
    number("columns", "vectors of a value in a tile of results"),
    number("rows", "queries of a tile of results"),
)


@dataclass(frozen=True)
class AttentionStages:
    """The stages of an attention kernel in program order, and their extents."""

    kernel: NaiveKernel

    queries: KernelStage
    """The copy of the queries whose lanes are queries."""
    products: KernelStage
    scores: KernelStage
    largest: KernelStage
    weights: KernelStage
    total: KernelStage
    shares: KernelStage
    weighted: KernelStage
    output: KernelStage

    @staticmethod
    def of(kernel: NaiveKernel) -> AttentionStages | NotApplicable:
        """Return the stages that the lowering of attention states."""
        stages = kernel.with_roles("attention", _ROLES)
        if stages is None:
            return NotApplicable("it is not a softmax of scores between two products")
        queries, products, scores, largest, weights, total, shares, weighted = stages
        shape = AttentionStages(
            kernel,
            queries,
            products,
            scores,
            largest,
            weights,
            total,
            shares,
            weighted,
            kernel.main,
        )
        *batch, count, columns = kernel.main.block.iter_extents
        if weighted.block.iter_extents != (*batch, count, columns, shape.keys):
            return NotApplicable("its result and the product differ in shape")
        if products.block.iter_extents[:-1] != scores.block.iter_extents:
            return NotApplicable("its scores and the product differ in shape")
        if min(count, columns) < _WIDTHS[0]:
            return NotApplicable("its queries or values do not fill a vector")
        return shape

    def vectors(self, lanes: int) -> Range:
        """Return the numbers of vectors of queries of a work-item."""
        return Range(1, min(_MOST_VECTORS, self.count // lanes))

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
class AttentionSizes:
    """The sizes of a work-item."""

    lanes: int
    vectors: int
    keys: int
    width: int
    columns: int
    rows: int

    @staticmethod
    def of(params: Params) -> AttentionSizes:
        """Return the sizes of a point."""
        names = ("lanes", "vectors", "keys", "width", "columns", "rows")
        return AttentionSizes(*(params.number(name) for name in names))

    @property
    def queries(self) -> int:
        """The queries of a work-item."""
        return self.lanes * self.vectors


def _value_tiles(shape: AttentionStages, width: int, most: int) -> tuple[int, ...]:
    """Return the vectors of a value in a tile: parts of a value, if vectors divide it."""
    whole, rest = divmod(shape.columns, width)
    return tuple(n for n in range(1, min(whole, most) + 1) if rest or whole % n == 0)


def _query_tiles(queries: int, columns: int, most: int) -> tuple[int, ...]:
    """Return the queries of a tile of results: parts of a work-item's, so none is partial."""
    return tuple(n for n in range(1, most // columns + 1) if queries % n == 0)


@dataclass(frozen=True)
class AttentionModel:
    """Estimates what the tiles of attention cost on a CPU."""

    shape: AttentionStages
    target: cl.Target

    @cached_property
    def best(self) -> AttentionSizes:
        """The cheapest choice."""
        return min(self._candidates(), key=self.cost)

    def cost(self, choice: AttentionSizes) -> float:
        """Return the cycles until the last core is done, if the cores also do other work."""
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
        copied = choice.queries * shape.depth * LANE_CYCLES
        turns = (items + target.device.compute_units - 1) / target.device.compute_units
        return turns * (scores + values + weights + copied + ITEM_CYCLES / 10)

    def _tile(self, rows: int, vectors: int, steps: int) -> float:
        """Return the cycles of a tile of some rows of vectors."""
        step = max(
            rows * vectors / mads_per_cycle(self.target.machine),
            (rows + vectors) / LOADS_PER_CYCLE,
            MAD_CYCLES,
        )
        return steps * step + TILE_CYCLES

    def _candidates(self) -> Iterator[AttentionSizes]:
        """Yield the choices whose sums are believed to fit the registers."""
        shape, most = self.shape, accumulators(self.target, 2, _MOST_ACCUMULATORS)
        lanes = max(w for w in _WIDTHS if w <= max(self.target.machine.vector_width, 2))
        lanes = max(w for w in _WIDTHS if w <= min(lanes, shape.count))
        width = self._width(lanes)
        for vectors, columns in product(shape.vectors(lanes), _value_tiles(shape, width, most)):
            keys = range(1, min(shape.keys, most // vectors) + 1)
            for key, rows in product(keys, _query_tiles(lanes * vectors, columns, most)):
                yield AttentionSizes(lanes, vectors, key, width, columns, rows)

    def _width(self, lanes: int) -> int:
        """Return the widest vector that divides a value; if that is narrow, the widest in one."""
        fitting = [w for w in _WIDTHS if w <= min(lanes, self.shape.columns)]
        even = [w for w in fitting if self.shape.columns % w == 0]
        widest = max(fitting)
        return max(even) if even and 2 * max(even) >= widest else widest


def _domains(shape: AttentionStages, target: cl.Target) -> Domains:
    def widths(most: int) -> Choice:
        return Choice(tuple(w for w in _WIDTHS if w <= most))

    def rows(params: Params) -> Choice:
        queries = params.number("lanes") * params.number("vectors")
        return Choice(_query_tiles(queries, params.number("columns"), MOST_SUMS))

    return {
        LOCAL_SIZE.name: local_sizes(target),
        "lanes": widths(shape.count),
        "vectors": lambda params: shape.vectors(params.number("lanes")),
        "keys": lambda params: Range(1, min(shape.keys, MOST_SUMS // params.number("vectors"))),
        "width": widths(shape.columns),
        "columns": lambda params: Choice(_value_tiles(shape, params.number("width"), MOST_SUMS)),
        "rows": rows,
    }


def _default(space: Space[AttentionStages]) -> Params:
    best = space.model(AttentionModel).best
    return Params({LOCAL_SIZE.name: DEFAULT_LOCAL_SIZE, **vars(best)})


def _apply(schedule: Schedule, shape: AttentionStages, params: Params) -> None:
    kernel, choice = shape.kernel, AttentionSizes.of(params)
    schedule.local_size(*params.numbers(LOCAL_SIZE.name))
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


def _over_queries(
    schedule: Schedule, stage: KernelStage, loop: tir.ForOp, choice: AttentionSizes
) -> None:
    """Compute a stage for all queries of a work-item, one key after the other."""
    loops = schedule.compute_at(stage.block, loop)
    last = stage.spatial[-1]
    queries = loops.pop(last)
    vectors, lanes = schedule.split(queries, choice.lanes)
    schedule.reorder(*loops, vectors, lanes)
    _in_registers(schedule, [vectors], lanes)


def _multiply(
    schedule: Schedule, shape: AttentionStages, loop: tir.ForOp, choice: AttentionSizes
) -> None:
    """Multiply register tiles of scores: some keys by all queries of the work-item."""
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
    Needs(device="cpu", texels=False, reductions=True),
    PARAMETERS,
    AttentionStages.of,
    _domains,
    _default,
    _apply,
)
"""The softmax has no parameters: each vector of queries passes over all keys."""
