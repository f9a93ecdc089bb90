"""Products of bytes on a GPU that adds four of them to a sum by one instruction.

Values lie in texels of four channels, so that a texel of bytes is a word: four terms of a sum. A
work-item computes some texels at some columns. Each step of the reduction reads a word for each
column and four words of packed weights for each texel of channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from .....dialects import cl, tir
from .....dialects.tir import QUAD, TEXEL
from ...schedule import Schedule
from ..cpu.channel_tiles import ChannelTile
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.byte_products import ByteProducts
from ..shared.contraction import Contraction
from ..shared.grid import join_grid_of_texels
from ..space import Choice, Domains, NotApplicable, Params, Range, Space, number, numbers
from .work_items import Shapes, bind_items

_MOST_COLUMNS = 8
_BLOCKS = (1, 2, 4, 8)
_ACCUMULATORS = 16
"""Texels of sums of a work-item at the most."""
_MOST_COPIES = 256
"""Texels of sums in the text of an unrolled window at the most."""


COLUMNS = number("columns", "columns of a tile")
BLOCKS = number("blocks", "texels of a column")
WINDOW = number("window", "innermost loops of the window that are unrolled")
GROUP = numbers("group", "work-items of a group")


@dataclass(frozen=True)
class ByteTexels:
    """A sum of products of bytes, whose tiles have texels at some columns."""

    products: ByteProducts

    @staticmethod
    def of(kernel: NaiveKernel) -> ByteTexels | NotApplicable:
        """Return the sum that a kernel is."""
        products = ByteProducts.of(kernel, TEXEL)
        return products if isinstance(products, NotApplicable) else ByteTexels(products)

    @property
    def contraction(self) -> Contraction:
        """The reduction that adds the products."""
        return self.products.contraction

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the spatial variables."""
        return self.contraction.extents

    @property
    def lane(self) -> int:
        """The variable of the channels."""
        return self.products.lane

    @property
    def column(self) -> int | None:
        """The variable of the columns; None where the result has only channels."""
        others = [i for i, n in enumerate(self.extents) if i != self.lane and n > 1]
        return others[-1] if others else None

    @property
    def width(self) -> int:
        """Columns of a row."""
        return 1 if self.column is None else self.extents[self.column]

    @property
    def texels(self) -> int:
        """Texels of channels."""
        return self.extents[self.lane] // TEXEL

    @property
    def most_columns(self) -> int:
        """Columns of a tile at the most."""
        return min(self.width, _MOST_COLUMNS)

    def blocks(self, columns: int) -> tuple[int, ...]:
        """Return the numbers of texels of a column that a tile can have."""
        most = _ACCUMULATORS // columns
        return tuple(n for n in _BLOCKS if n <= most and self.texels % n == 0)

    @cached_property
    def window(self) -> int | None:
        """The innermost variable of the reduction beside the terms that takes several values."""
        stage, term = self.contraction.stage, self.products.term
        several = [i for i in stage.reduce if i != term and stage.block.iter_extents[i] > 1]
        return several[-1] if several else None

    @property
    def taps(self) -> int:
        """The number of these values."""
        return 1 if self.window is None else self.contraction.stage.block.iter_extents[self.window]

    def windows(self, tile: ChannelTile) -> tuple[int, ...]:
        """Return how many innermost loops of the window can be unrolled."""
        copies = tile.blocks * tile.columns * self.taps
        return (0, 1) if self.window is not None and copies <= _MOST_COPIES else (0,)

    def grid(self, tile: ChannelTile) -> list[int]:
        """Return the sizes of the loops over tiles, outermost first."""
        sizes = list(self.extents)
        sizes[self.lane] = self.texels // tile.blocks
        if self.column is not None:
            sizes[self.column] = -(-self.width // tile.columns)
        return sizes

    def tiles(self) -> list[ChannelTile]:
        """Return all tiles."""
        return [
            ChannelTile(blocks, columns)
            for columns in range(1, self.most_columns + 1)
            for blocks in self.blocks(columns)
        ]


@dataclass(frozen=True)
class ByteTexelModel:
    """Estimates what tiles of products of bytes cost on a GPU."""

    shape: ByteTexels
    target: cl.Target

    def cost(self, tile: ChannelTile, parts: int = 1) -> float:
        """Return multiply-adds and loads for each word of a sum, times what few items leave idle.

        A tile has `parts` work-items.
        """
        shape, target, grid = self.shape, self.target, self.shape.grid(tile)
        words = tile.blocks * tile.columns
        # Columns that are neighbours share what the taps of a window read.
        read = (tile.columns - 1 + shape.taps) / shape.taps if shape.taps > 1 else tile.columns
        step = TEXEL * words + target.machine.access_cost * (read + tile.blocks)
        covered = prod(grid) * words / prod(shape.extents) * TEXEL
        wanted = target.device.compute_units * target.machine.preferred_work_group
        return covered * step / words * max(1.0, wanted / (prod(grid) * parts))

    @cached_property
    def best(self) -> ChannelTile:
        """The cheapest tile of a work-item."""
        return min(self.shape.tiles(), key=self.cost)


def tile_domains(shape: ByteTexels) -> Domains:
    """Return the domains of `COLUMNS`, `BLOCKS` and `WINDOW`."""
    return {
        COLUMNS.name: Range(1, shape.most_columns),
        BLOCKS.name: lambda params: Choice(shape.blocks(params.number(COLUMNS.name))),
        WINDOW.name: lambda params: Choice(shape.windows(tile_of(params))),
    }


def tile_of(params: Params) -> ChannelTile:
    """Return what a work-item computes."""
    return ChannelTile(params.number(BLOCKS.name), params.number(COLUMNS.name))


def _groups(shape: ByteTexels, tile: ChannelTile, target: cl.Target) -> Shapes:
    return Shapes(shape.grid(tile), target)


def _domains(shape: ByteTexels, target: cl.Target) -> Domains:
    return {
        **tile_domains(shape),
        GROUP.name: lambda params: _groups(shape, tile_of(params), target),
    }


def _default(space: Space[ByteTexels]) -> Params:
    tile = space.model(ByteTexelModel).best
    return Params(
        {
            COLUMNS.name: tile.columns,
            BLOCKS.name: tile.blocks,
            WINDOW.name: max(space.structure.windows(tile)),
            GROUP.name: _groups(space.structure, tile, space.target).best(),
        }
    )


def _apply(schedule: Schedule, shape: ByteTexels, params: Params) -> None:
    """Compute one tile in each work-item; neighbours compute neighbouring columns."""
    products, tile, lane = shape.products, tile_of(params), shape.lane
    products.pack(schedule, TEXEL, terms_first=True)
    loops = list(shape.contraction.output.loops)
    loops[lane], lanes = schedule.split(loops[lane], TEXEL)
    loops[lane], blocks = schedule.split(loops[lane], tile.blocks)
    inside = [blocks]
    if shape.column is not None:
        column = loops[shape.column]
        loops[shape.column], columns = schedule.split(column, tile.columns, overlap=True)
        inside.append(columns)
    schedule.reorder(*loops, *inside, lanes)
    local = bind_items(schedule, loops, params.numbers(GROUP.name))
    block = shape.contraction.stage.block
    inner, rank = schedule.compute_at(block, local), len(shape.extents)
    reduce = inner[rank:]
    at = shape.contraction.stage.reduce.index(products.term)
    reduce[at], quad = schedule.split(reduce[at], QUAD)
    serial = [reduce.pop(at)]
    order_reduction(schedule, shape, inner[:rank], [*serial, *reduce, quad], params)
    for loop in inside:
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    schedule.keep_private(block)
    join_grid_of_texels(schedule, shape.contraction.borders, shape.contraction.output)


def order_reduction(
    schedule: Schedule,
    shape: ByteTexels,
    spatial: Sequence[tir.ForOp],
    reduce: Sequence[tir.ForOp],
    params: Params,
) -> None:
    """Order the loops of a tile's sum: texels of terms, the window, the tile, lanes, four terms.

    `reduce` begins with the texels and ends with the four terms. Loops of `spatial` behind those of
    the result run once.
    """
    tiled = [shape.lane, *([] if shape.column is None else [shape.column])]
    single = [loop for i, loop in enumerate(spatial) if i not in tiled]
    blocks, lanes = schedule.split(spatial[shape.lane], TEXEL)
    tile = [blocks, *(spatial[i] for i in tiled[1:])]
    terms, *window, quad = reduce
    several = [loop for loop in window if loop.size > 1]
    unrolled = several[-1:] if params.number(WINDOW.name) else []
    serial = [loop for loop in window if loop not in unrolled]
    schedule.reorder(*single, terms, *serial, *unrolled, *tile, lanes, quad)
    for loop in (*unrolled, *tile, quad):
        schedule.unroll(loop)
    schedule.vectorize(lanes)


DOT_TEXELS = Rule(
    "dot-texels",
    1,
    Needs(device="gpu", reductions=True, byte_products=True),
    (COLUMNS, BLOCKS, WINDOW, GROUP),
    ByteTexels.of,
    _domains,
    _default,
    _apply,
)
"""Which variables are texels, columns and terms follows from the operands."""
