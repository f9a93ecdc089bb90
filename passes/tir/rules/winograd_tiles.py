"""Convolutions by Winograd's transforms on a CPU, a strip of tiles at a time.

A work-item transforms the tiles of a strip, multiplies them by the weights of some blocks of
channels, and transforms the products back, block by block. Nothing but the strip lies between the
transforms, in memory of the work-item that its caches hold. Channels are the lanes: each addition
of a transform is one of vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

from xdsl.ir.affine import AffineExpr

from ....dialects import cl, tir
from ....dialects.nn.winograd import KERNEL
from ..schedule import Schedule
from ..schedule.analysis import accesses, memref_of, written
from .cpu import accumulators, bytes_per_cycle, divisors
from .grid import (
    DEFAULT_LOCAL_SIZE,
    LOCAL_SIZE,
    MOST_PRIVATE,
    bind_grid,
    join_grid,
    local_size_parameter,
)
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Parameter, Params, Range, Space
from .stages import Stage
from .streams import AHEAD, AHEAD_PARAMETER, Streams, fetch_ahead

_MOST_ACCUMULATORS = 16
"""More than that, and compilers spill some of them."""
_WIDTHS = (2, 4, 8, 16)
"""The vectors of OpenCL that blocks of channels can be."""
_ADDITIONS = 8
"""Cycles of additions and moves for each vector of a tile that a transform reads or writes."""
_STRIPS = 2
"""How often a strip may be larger than the second cache: one matrix of it is used at a time."""


@dataclass(frozen=True)
class _Shape:
    """The stages of a kernel and their extents."""

    tiles: Stage
    products: Stage
    results: Stage
    output: Stage
    tile: int
    """The m of F(m x m, 3 x 3)."""

    @staticmethod
    def of(kernel: NaiveKernel) -> _Shape | Misfit:
        reason = Misfit("it is no product between two transforms of tiles")
        kinds = [bool(stage.reduce) for stage in kernel.producers]
        if kinds != [False, True, False] or len(kernel.main.loops) != 4:
            return reason
        tiles, products, results = kernel.producers
        (found,) = written(results.block)
        squares = {(m + KERNEL - 1) ** 2: m for m in (2, 4)}
        (sums,) = written(products.block)
        tile = squares.get(memref_of(sums).get_shape()[0])
        if tile is None or memref_of(found).get_shape()[0] != tile**2:
            return reason
        if [len(stage.loops) for stage in kernel.producers] != [4, 6, 4]:
            return reason
        shape = _Shape(tiles, products, results, kernel.main, tile)
        return shape if shape._reads_tiles(found) else reason

    def _reads_tiles(self, results: object) -> bool:
        """Whether the output reads the results at its own position."""
        n, o, h, w = (AffineExpr.dimension(i) for i in range(4))
        expected = (n, h // self.tile, w // self.tile, o)
        for buffer in written(self.results.block):
            shape = memref_of(buffer).get_shape()[1:]
            for _, (_, *index) in accesses(self.output.block, buffer):
                pairs = zip(index, expected, shape, strict=True)
                if any(size != 1 and found != wanted for found, wanted, size in pairs):
                    return False
        return True

    @cached_property
    def grid(self) -> tuple[int, int, int]:
        """Images, and rows and columns of their tiles."""
        n, rows, cols, _ = self.tiles.block.iter_extents
        return n, rows, cols

    @property
    def inputs(self) -> int:
        """Channels of the operand."""
        return self.tiles.block.iter_extents[3]

    @property
    def outputs(self) -> int:
        """Channels of the result."""
        return self.results.block.iter_extents[3]

    @property
    def elements(self) -> int:
        """Elements of a tile."""
        return (self.tile + KERNEL - 1) ** 2

    @property
    def widths(self) -> tuple[int, ...]:
        """The vectors that divide the channels of both sides."""
        return tuple(w for w in _WIDTHS if self.inputs % w == 0 == self.outputs % w)


@dataclass(frozen=True)
class _Choice:
    """The sizes of a work-item."""

    lanes: int
    rows: int
    cols: int
    blocks: int
    parts: int
    tile_rows: int
    tile_cols: int

    @staticmethod
    def of(params: Params) -> _Choice:
        names = ("lanes", "rows", "cols", "blocks", "parts", "tile_rows", "tile_cols")
        return _Choice(*(params.number(name) for name in names))


@dataclass(frozen=True)
class _Problem:
    """The choice of the strips."""

    shape: _Shape
    target: cl.Target
    weights: Streams

    @property
    def most(self) -> int:
        """Accumulators of a tile."""
        return accumulators(self.target, 1, _MOST_ACCUMULATORS)

    def most_tiles(self, group: int = 1) -> int:
        """Tiles of a strip at the most, for groups of so many work-items."""
        near = _STRIPS * self.target.l2_cache_bytes // self._bytes(1)
        return max(1, min(near, MOST_PRIVATE // group // self.item_bytes))

    @property
    def item_bytes(self) -> int:
        """The memory of a tile and of its products with a block of channels."""
        return self._bytes(1) + 4 * self.shape.elements * max(self.shape.widths)

    def _bytes(self, tiles: int) -> int:
        """The memory of so many transformed tiles of the operand."""
        return 4 * tiles * self.shape.elements * self.shape.inputs

    def rows(self, group: int = 1) -> tuple[int, ...]:
        """The rows of tiles that a strip may have."""
        return tuple(n for n in divisors(self.shape.grid[1]) if n <= self.most_tiles(group))

    def cols(self, rows: int, group: int = 1) -> tuple[int, ...]:
        """The tiles of a row that a strip of so many rows may have."""
        found = divisors(self.shape.grid[2])
        return tuple(n for n in found if n * rows <= self.most_tiles(group))

    def blocks(self, lanes: int, tiles: int) -> tuple[int, ...]:
        """Blocks of channels of a tile, where the strips of a group have so many tiles."""
        room = (MOST_PRIVATE - self._bytes(tiles)) // (4 * tiles * self.shape.elements * lanes)
        found = divisors(self.shape.outputs // lanes)
        return tuple(n for n in found if n <= min(self.most, max(1, room)))

    def parts(self, lanes: int, blocks: int) -> tuple[int, ...]:
        """Work-items that share the channels of a strip."""
        return divisors(self.shape.outputs // lanes // blocks)

    @cached_property
    def best(self) -> _Choice:
        """The cheapest choice."""
        return min(self._candidates(), key=self.cost)

    def cost(self, choice: _Choice) -> float:
        """Cycles until the last core is done: the mean of idle and busy cores."""
        shape, target = self.shape, self.target
        n, rows, cols = shape.grid
        units = target.compute_units
        strips = n * (rows // choice.rows) * (cols // choice.cols)
        items, tiles = strips * choice.parts, choice.rows * choice.cols
        vectors = tiles * (shape.inputs + shape.outputs / choice.parts) / choice.lanes
        transforms = shape.elements * vectors * _ADDITIONS
        groups = shape.outputs / choice.lanes / choice.blocks / choice.parts
        products = shape.elements * groups * self._products(choice)
        # The last work-item starts with others, or at the latest when all others run or are done.
        idle, busy = -(-items // units), (items + units - 1) / units
        turns = (idle + busy) / 2
        return turns * (transforms + products + target.item_cycles)

    def _products(self, choice: _Choice) -> float:
        """Cycles of the products of a strip with one matrix of weights."""
        shape, target = self.shape, self.target
        points = choice.tile_rows * choice.tile_cols
        sums = points * choice.blocks
        tiles = -(-choice.rows // choice.tile_rows) * -(-choice.cols // choice.tile_cols)
        vectors = 4 * choice.blocks * choice.lanes
        # All tiles but the first read the weights again; the second cache is busy with new ones.
        is_near = tiles == 1 or vectors * shape.inputs <= target.l1_cache_bytes / 2
        fetched = choice.blocks if self.weights.ahead(choice.blocks) else 0
        step = max(
            sums / target.mads_per_cycle,
            (points + choice.blocks + fetched) / target.loads_per_cycle,
            0 if is_near else 2 * vectors / target.l2_bytes_per_cycle,
            target.mad_cycles,
        )
        strip = self._bytes(choice.rows * choice.cols)
        weights = self._bytes(shape.outputs)
        group = weights * choice.blocks * choice.lanes / shape.outputs
        # The weights come again for each strip, and the strip for each group of channels; both are
        # fetched while others are multiplied.
        read = group / bytes_per_cycle(target, weights + strip)
        read += strip / bytes_per_cycle(target, strip + group)
        return max(tiles * (shape.inputs * step + target.tile_cycles), read / shape.elements)

    def _candidates(self) -> Iterator[_Choice]:
        lanes = max(w for w in self.shape.widths if w <= max(self.target.vector_width, 2))
        sizes = ((rows, cols) for rows in self.rows() for cols in self.cols(rows))
        for rows, cols in sizes:
            for blocks in self.blocks(lanes, rows * cols):
                heights = range(1, min(rows, self.most // blocks) + 1)
                for parts, tile_rows in product(self.parts(lanes, blocks), heights):
                    most = min(cols, self.most // (blocks * tile_rows))
                    for tile_cols in range(1, most + 1):
                        yield _Choice(lanes, rows, cols, blocks, parts, tile_rows, tile_cols)


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Problem] | Misfit:
    shape = _Shape.of(kernel)
    if isinstance(shape, Misfit):
        return shape
    if not shape.widths:
        return Misfit("no vector divides its channels")
    problem = _Problem(shape, target, Streams.of(kernel.func, shape.products.block, target))

    def group(params: Params) -> int:
        return prod(params.numbers(LOCAL_SIZE))

    def rows(params: Params) -> Choice:
        return Choice(problem.rows(group(params)))

    def cols(params: Params) -> Choice:
        return Choice(problem.cols(params.number("rows"), group(params)))

    def blocks(params: Params) -> Choice:
        tiles = params.number("rows") * params.number("cols") * group(params)
        return Choice(problem.blocks(params.number("lanes"), tiles))

    def parts(params: Params) -> Choice:
        return Choice(problem.parts(params.number("lanes"), params.number("blocks")))

    def tile_rows(params: Params) -> Range:
        return Range(1, min(params.number("rows"), problem.most // params.number("blocks")))

    def tile_cols(params: Params) -> Range:
        used = params.number("blocks") * params.number("tile_rows")
        return Range(1, min(params.number("cols"), problem.most // used))

    parameters = (
        local_size_parameter(target, problem.item_bytes),
        Parameter("lanes", "channels of a vector", Choice(shape.widths)),
        Parameter("rows", "rows of tiles of a strip", rows),
        Parameter("cols", "tiles of such a row", cols),
        Parameter("blocks", "vectors of channels of a register tile", blocks),
        Parameter("parts", "work-items that share the channels of a strip", parts),
        Parameter("tile_rows", "rows of tiles of a register tile", tile_rows),
        Parameter("tile_cols", "tiles of such a row", tile_cols),
        AHEAD_PARAMETER,
    )
    return Space(parameters, problem)


def _default(space: Space[_Problem]) -> Params:
    problem = space.facts
    ahead = problem.weights.ahead(problem.best.blocks)
    return Params({LOCAL_SIZE: DEFAULT_LOCAL_SIZE, **vars(problem.best), AHEAD: ahead})


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    shape, choice = _Shape.of(kernel), _Choice.of(params)
    assert isinstance(shape, _Shape), "the rule fits"
    schedule.local_size(*params.numbers(LOCAL_SIZE))
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
    join_grid(schedule, kernel.borders, shape.output)


def _transform(schedule: Schedule, stage: Stage, loop: tir.ForOp, choice: _Choice) -> None:
    """Whole tiles of a vector of channels at a time."""
    *places, channels = schedule.compute_at(stage.block, loop)
    channels, lanes = schedule.split(channels, choice.lanes)
    schedule.reorder(*places, channels, lanes)
    schedule.vectorize(lanes)


def _multiply(
    schedule: Schedule, shape: _Shape, copy: tir.BlockOp, loop: tir.ForOp, choice: _Choice
) -> None:
    """Register tiles: some tiles of the strip by some vectors of channels."""
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
    Kernels(device="cpu", texels=False, reductions=True),
    _fit,
    _default,
    _apply,
    lambda space, params: space.facts.cost(_Choice.of(params)),
)
"""A strip has whole rows of tiles, or equal parts of one row, so that none is a rest."""
