"""Products of bytes on a CPU that adds four of them to a sum by one instruction.

A work-item computes some blocks of 16 channels, or columns of a product of matrices, at some points
of a row: a vector of sums for each. A step of the reduction takes four terms, which lie side by
side in both operands: it broadcasts four bytes of the one, and multiplies 16 times four bytes of
the other, constants that are packed so. `tir-form-dots` then finds the instruction's operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ....dialects import cl, tir
from ....dialects.tir import QUAD
from ..schedule import Schedule
from .byte_products import ByteProducts
from .channel_tiles import Tile
from .contraction import Contraction
from .cpu import accumulators, divisors
from .grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_size_parameter
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Order, Parameter, Params, Range, Space

LANES = 16
"""Sums of a vector."""
_MOST_ACCUMULATORS = 16
_MOST_COPIES = 256
"""Instructions in the text of an unrolled window at the most."""


@dataclass(frozen=True)
class _Problem:
    """A sum of products of bytes, and the choice of its tile."""

    products: ByteProducts
    target: cl.Target

    @property
    def contraction(self) -> Contraction:
        return self.products.contraction

    @property
    def lane(self) -> int:
        """The variable of the channels."""
        return self.products.lane

    @property
    def term(self) -> int:
        """The variable of the reduction along which four terms lie side by side."""
        return self.products.term

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the spatial variables."""
        return self.contraction.extents

    @cached_property
    def column(self) -> int | None:
        """The variable of the columns; None where the result has only channels."""
        others = [i for i, n in enumerate(self.extents) if i != self.lane and n > 1]
        return others[-1] if others else None

    @property
    def width(self) -> int:
        """Columns of a row."""
        return 1 if self.column is None else self.extents[self.column]

    @property
    def count(self) -> int:
        """Blocks of channels."""
        return self.extents[self.lane] // LANES

    @property
    def most(self) -> int:
        """Accumulators of a tile."""
        return accumulators(self.target, 1, _MOST_ACCUMULATORS)

    @cached_property
    def window(self) -> int | None:
        """The innermost variable of the reduction beside the terms that takes several values."""
        stage = self.contraction.stage
        several = [i for i in stage.reduce if i != self.term and stage.block.iter_extents[i] > 1]
        return several[-1] if several else None

    @property
    def window_size(self) -> int:
        """The number of these values."""
        return 1 if self.window is None else self.contraction.stage.block.iter_extents[self.window]

    def cost(self, tile: Tile) -> float:
        """Cycles of all tiles."""
        target, sums = self.target, tile.blocks * tile.columns
        step = max(
            sums / target.mads_per_cycle,
            (tile.blocks + tile.columns) / target.loads_per_cycle,
            target.mad_cycles,
        )
        cycles = self.contraction.depth / QUAD * step + sums + target.tile_cycles
        tiles = -(-self.count // tile.blocks) * -(-self.width // tile.columns)
        rows = prod(self.extents) / (self.extents[self.lane] * self.width)
        return rows * tiles * cycles

    def tiles(self) -> Iterator[Tile]:
        """All tiles that fit the registers."""
        for blocks in range(1, min(self.most, self.count) + 1):
            for columns in range(1, min(self.width, self.most // blocks) + 1):
                yield Tile(blocks, columns)

    def chunks(self, tile: Tile) -> tuple[int, ...]:
        """Tiles of a row for a work-item."""
        return divisors(-(-self.width // tile.columns))


def _problem_of(kernel: NaiveKernel, target: cl.Target) -> _Problem | Misfit:
    products = ByteProducts.of(kernel, LANES)
    return products if isinstance(products, Misfit) else _Problem(products, target)


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Problem] | Misfit:
    if not target.multiplies_bytes:
        return Misfit("the device has no instruction for products of bytes")
    problem = _problem_of(kernel, target)
    if isinstance(problem, Misfit):
        return problem

    def columns(params: Params) -> Range:
        return Range(1, min(problem.width, problem.most // params.number("blocks")))

    def chunk(params: Params) -> Choice:
        return Choice(problem.chunks(_tile(params)))

    def window(params: Params) -> Choice:
        tile = _tile(params)
        copies = tile.blocks * tile.columns * problem.window_size
        return Choice((0, 1) if problem.window is not None and copies <= _MOST_COPIES else (0,))

    parameters = (
        local_size_parameter(target),
        Parameter(
            "blocks", "vectors of channels of a tile", Range(1, min(problem.most, problem.count))
        ),
        Parameter("columns", "columns of a tile", columns),
        Parameter("chunk", "tiles of a row that a work-item computes", chunk),
        Parameter("window", "innermost loops of the window that are unrolled", window),
        Parameter(
            "order", "the variables as work-items run through them", Order(len(problem.extents))
        ),
    )
    return Space(parameters, problem)


def _tile(params: Params) -> Tile:
    return Tile(params.number("blocks"), params.number("columns"))


def _default(space: Space[_Problem]) -> Params:
    problem = space.facts
    tile = min(problem.tiles(), key=problem.cost)
    copies = tile.blocks * tile.columns * problem.window_size
    tiles = -(-problem.count // tile.blocks) * -(-problem.width // tile.columns)
    rows = prod(problem.extents) / (problem.extents[problem.lane] * problem.width)
    wanted = problem.target.item_cycles * rows * tiles / problem.cost(tile)
    order = sorted(range(len(problem.extents)), key=lambda i: (i != 0, i != problem.lane, i))
    return Params(
        {
            LOCAL_SIZE: DEFAULT_LOCAL_SIZE,
            "blocks": tile.blocks,
            "columns": tile.columns,
            "chunk": min(problem.chunks(tile), key=lambda n: abs(n - wanted)),
            "window": int(problem.window is not None and copies <= _MOST_COPIES),
            "order": tuple(order),
        }
    )


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    problem, tile = _problem_of(kernel, cl.Target()), _tile(params)
    assert isinstance(problem, _Problem), "the rule fits"
    schedule.local_size(*params.numbers(LOCAL_SIZE))
    problem.products.pack(schedule, LANES)
    loops = dict(enumerate(problem.contraction.output.loops))
    loops[problem.lane], lanes = schedule.split(loops[problem.lane], LANES)
    loops[problem.lane], blocks = schedule.split(loops[problem.lane], tile.blocks, overlap=True)
    chunk: list[tir.ForOp] = []
    columns: list[tir.ForOp] = []
    if problem.column is not None:
        tiles, column = schedule.split(loops[problem.column], tile.columns, overlap=True)
        loops[problem.column], rest = schedule.split(tiles, params.number("chunk"))
        chunk, columns = [rest], [column]
    grid = [loops[i] for i in params.numbers("order")]
    schedule.reorder(*grid, *chunk, *columns, blocks, lanes)
    bind_grid(schedule, grid)
    block = problem.contraction.stage.block
    around = (*columns, blocks)[0].parent_op()
    assert isinstance(around, tir.ForOp), "the variables are loops around the tile"
    _reduce(schedule, problem, schedule.compute_at(block, around), params.number("window"))
    for loop in (*columns, blocks):
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    schedule.keep_private(block)
    join_grid(schedule, kernel.borders, problem.contraction.output)


def _reduce(schedule: Schedule, problem: _Problem, loops: Sequence[tir.ForOp], window: int) -> None:
    """Four terms are the innermost loop, in each lane of the tile."""
    count = len(problem.extents)
    spatial, reduce = dict(enumerate(loops[:count])), dict(enumerate(loops[count:], count))
    blocks, lanes = schedule.split(spatial.pop(problem.lane), LANES)
    tile = [blocks]
    if problem.column is not None:
        tile.insert(0, spatial.pop(problem.column))
    unrolled = [reduce.pop(problem.window)] if window and problem.window is not None else []
    terms, quad = schedule.split(reduce.pop(problem.term), QUAD)
    schedule.reorder(*spatial.values(), terms, *reduce.values(), *unrolled, *tile, lanes, quad)
    for loop in (*unrolled, *tile, quad):
        schedule.unroll(loop)
    schedule.vectorize(lanes)


DOT_TILES = Rule(
    "dot-tiles",
    1,
    Kernels(device="cpu", texels=False, reductions=True),
    _fit,
    _default,
    _apply,
    lambda space, params: space.facts.cost(_tile(params)),
)
"""Before the rules that multiply one term at a time."""
