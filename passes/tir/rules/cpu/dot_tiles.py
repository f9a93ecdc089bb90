"""Products of bytes on a CPU that adds four of them to a sum by one instruction.

A work-item computes some blocks of 16 channels, or columns of a product of matrices, at some points
of a row: a vector of sums for each. A step of the reduction takes four terms, which lie side by
side in both operands: it broadcasts four bytes of the one, and multiplies 16 times four bytes of
the other, constants that are packed so. `tir-form-dots` then finds the instruction's operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from .....dialects import cl, tir
from .....dialects.tir import QUAD
from .....machine.core import LOADS_PER_CYCLE, MAD_CYCLES, MADS_PER_CYCLE
from ...schedule import Schedule
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.byte_products import ByteProducts
from ..shared.contraction import Contraction
from ..shared.grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_sizes
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
from .beliefs import ITEM_CYCLES, MOST_SUMS, TILE_CYCLES, accumulators, divisors
from .channel_tiles import ChannelTile

LANES = 16
"""Sums of a vector."""
_MOST_ACCUMULATORS = 16
_MOST_COPIES = 256
"""Instructions in the text of an unrolled window at the most."""


PARAMETERS = (
    LOCAL_SIZE,
    number("blocks", "vectors of channels of a tile"),
    number("columns", "columns of a tile"),
    number("chunk", "tiles of a row that a work-item computes"),
    number("window", "innermost loops of the window that are unrolled"),
    numbers("order", "the variables as work-items run through them"),
)


@dataclass(frozen=True)
class ByteTiles:
    """A sum of products of bytes, whose tiles have vectors of channels at some columns."""

    products: ByteProducts

    @staticmethod
    def of(kernel: NaiveKernel) -> ByteTiles | NotApplicable:
        """Return the sum that a kernel is."""
        products = ByteProducts.of(kernel, LANES)
        return products if isinstance(products, NotApplicable) else ByteTiles(products)

    @property
    def contraction(self) -> Contraction:
        """The reduction that adds the products."""
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

    @cached_property
    def window(self) -> int | None:
        """The innermost variable of the reduction beside the terms that takes several values."""
        stage = self.contraction.stage
        several = [i for i in stage.reduce if i != self.term and stage.block.iter_extents[i] > 1]
        return several[-1] if several else None

    def windows(self, tile: ChannelTile) -> tuple[int, ...]:
        """Return how many innermost loops of the window can be unrolled."""
        size = 1 if self.window is None else self.contraction.stage.block.iter_extents[self.window]
        copies = tile.blocks * tile.columns * size
        return (0, 1) if self.window is not None and copies <= _MOST_COPIES else (0,)

    def chunks(self, tile: ChannelTile) -> tuple[int, ...]:
        """Return the numbers of tiles of a row for a work-item: divisors, so none is partial."""
        return divisors(-(-self.width // tile.columns))


@dataclass(frozen=True)
class ByteTileModel:
    """Estimates what tiles of products of bytes cost on a CPU."""

    shape: ByteTiles
    target: cl.Target

    def tiles(self, tile: ChannelTile) -> float:
        """Return how many tiles there are."""
        shape = self.shape
        tiles = -(-shape.count // tile.blocks) * -(-shape.width // tile.columns)
        return prod(shape.extents) / (shape.extents[shape.lane] * shape.width) * tiles

    def cost(self, tile: ChannelTile) -> float:
        """Return the cycles of all tiles."""
        sums = tile.blocks * tile.columns
        step = max(
            sums / MADS_PER_CYCLE,
            (tile.blocks + tile.columns) / LOADS_PER_CYCLE,
            MAD_CYCLES,
        )
        cycles = self.shape.contraction.depth / QUAD * step + sums + TILE_CYCLES
        return self.tiles(tile) * cycles

    @cached_property
    def best(self) -> ChannelTile:
        """The cheapest of the tiles that are believed to fit the registers."""
        most = accumulators(self.target, 1, _MOST_ACCUMULATORS)
        tiles = (
            ChannelTile(blocks, columns)
            for blocks in range(1, min(most, self.shape.count) + 1)
            for columns in range(1, min(self.shape.width, most // blocks) + 1)
        )
        return min(tiles, key=self.cost)


def _domains(shape: ByteTiles, target: cl.Target) -> Domains:
    return {
        LOCAL_SIZE.name: local_sizes(target),
        "blocks": Range(1, min(MOST_SUMS, shape.count)),
        "columns": lambda params: Range(1, min(shape.width, MOST_SUMS // params.number("blocks"))),
        "chunk": lambda params: Choice(shape.chunks(_tile(params))),
        "window": lambda params: Choice(shape.windows(_tile(params))),
        "order": Permutation(len(shape.extents)),
    }


def _tile(params: Params) -> ChannelTile:
    return ChannelTile(params.number("blocks"), params.number("columns"))


def _default(space: Space[ByteTiles]) -> Params:
    shape, model = space.structure, space.model(ByteTileModel)
    tile = model.best
    wanted = ITEM_CYCLES * model.tiles(tile) / model.cost(tile)
    order = sorted(range(len(shape.extents)), key=lambda i: (i != 0, i != shape.lane, i))
    return Params(
        {
            LOCAL_SIZE.name: DEFAULT_LOCAL_SIZE,
            "blocks": tile.blocks,
            "columns": tile.columns,
            "chunk": min(shape.chunks(tile), key=lambda n: abs(n - wanted)),
            "window": max(shape.windows(tile)),
            "order": tuple(order),
        }
    )


def _apply(schedule: Schedule, shape: ByteTiles, params: Params) -> None:
    tile = _tile(params)
    schedule.local_size(*params.numbers(LOCAL_SIZE.name))
    shape.products.pack(schedule, LANES)
    loops = dict(enumerate(shape.contraction.output.loops))
    loops[shape.lane], lanes = schedule.split(loops[shape.lane], LANES)
    loops[shape.lane], blocks = schedule.split(loops[shape.lane], tile.blocks, overlap=True)
    chunk: list[tir.ForOp] = []
    columns: list[tir.ForOp] = []
    if shape.column is not None:
        tiles, column = schedule.split(loops[shape.column], tile.columns, overlap=True)
        loops[shape.column], rest = schedule.split(tiles, params.number("chunk"))
        chunk, columns = [rest], [column]
    grid = [loops[i] for i in params.numbers("order")]
    schedule.reorder(*grid, *chunk, *columns, blocks, lanes)
    bind_grid(schedule, grid)
    block = shape.contraction.stage.block
    around = (*columns, blocks)[0].parent_op()
    assert isinstance(around, tir.ForOp), "the variables are loops around the tile"
    _reduce(schedule, shape, schedule.compute_at(block, around), params.number("window"))
    for loop in (*columns, blocks):
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    schedule.keep_private(block)
    join_grid(schedule, shape.contraction.borders, shape.contraction.output)


def _reduce(schedule: Schedule, shape: ByteTiles, loops: Sequence[tir.ForOp], window: int) -> None:
    """Add four terms in the innermost loop, in each lane of the tile."""
    count = len(shape.extents)
    spatial, reduce = dict(enumerate(loops[:count])), dict(enumerate(loops[count:], count))
    blocks, lanes = schedule.split(spatial.pop(shape.lane), LANES)
    tile = [blocks]
    if shape.column is not None:
        tile.insert(0, spatial.pop(shape.column))
    unrolled = [reduce.pop(shape.window)] if window and shape.window is not None else []
    terms, quad = schedule.split(reduce.pop(shape.term), QUAD)
    schedule.reorder(*spatial.values(), terms, *reduce.values(), *unrolled, *tile, lanes, quad)
    for loop in (*unrolled, *tile, quad):
        schedule.unroll(loop)
    schedule.vectorize(lanes)


DOT_TILES = Rule(
    "dot-tiles",
    1,
    Needs(device="cpu", texels=False, reductions=True, byte_products=True),
    PARAMETERS,
    ByteTiles.of,
    _domains,
    _default,
    _apply,
)
"""Before the rules that multiply one term at a time."""
