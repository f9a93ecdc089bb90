"""Byte products on a GPU with an instruction that adds four of them to a sum.

Values lie in texels of four channels, so that a texel of bytes is a word: four terms of a sum. A
work-item computes some texels at some columns. Each step of the reduction reads a word for each
column and four words of packed weights for each texel of channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

from .....dialects import cl
from .....dialects.tir import QUAD, TEXEL
from ...schedule import Schedule
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.byte_products import ByteProducts
from ..shared.contraction import Contraction
from ..shared.grid import join_grid_of_texels
from ..space import Choice, Domains, NotApplicable, Params, Space
from .tiles import (
    BLOCKS,
    COLUMNS,
    GROUP,
    WINDOW,
    TexelTile,
    TiledLoops,
    TiledOutput,
    column_of,
    grid_of,
    tile_domains,
    tile_of,
)
from .work_items import Shapes

_MOST_COLUMNS = 8
_BLOCKS = (1, 2, 4, 8)
_ACCUMULATORS = 16
"""Most texels of sums per work-item."""
_MOST_COPIES = 256
"""Most texels of sums in the text of an unrolled window."""


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
        return column_of(self.extents, self.lane)

    @property
    def row(self) -> None:
        """The variable of the rows of a tile, which has one."""

    @property
    def texels(self) -> int:
        """Texels of channels."""
        return self.extents[self.lane] // TEXEL

    @property
    def most_columns(self) -> int:
        """Columns of a tile at the most."""
        return 1 if self.column is None else min(self.extents[self.column], _MOST_COLUMNS)

    def blocks(self, columns: int) -> tuple[int, ...]:
        """Return the numbers of texels of a column that a tile can have."""
        most = _ACCUMULATORS // columns
        return tuple(n for n in _BLOCKS if n <= most and self.texels % n == 0)

    @cached_property
    def window(self) -> list[int]:
        """The sizes of the loops of the reduction beside the terms that run more than once."""
        stage, term = self.contraction.stage, self.products.term
        sizes = (stage.block.iter_extents[i] for i in stage.reduce if i != term)
        return [size for size in sizes if size > 1]

    @property
    def taps(self) -> int:
        """The innermost of these sizes."""
        return self.window[-1] if self.window else 1

    def windows(self, tile: TexelTile) -> tuple[int, ...]:
        """Return how many innermost loops of the window can be unrolled."""
        counts, most = range(len(self.window) + 1), _MOST_COPIES // tile.texels
        return tuple(n for n in counts if prod(self.window[len(self.window) - n :]) <= most)

    def tiles(self) -> list[TexelTile]:
        """Return all tiles."""
        return [
            TexelTile(columns, blocks)
            for columns in range(1, self.most_columns + 1)
            for blocks in self.blocks(columns)
        ]


@dataclass(frozen=True)
class ByteTexelModel:
    """Estimates what tiles of products of bytes cost on a GPU."""

    shape: ByteTexels
    target: cl.Target

    def cost(self, tile: TexelTile, parts: int = 1) -> float:
        """Return multiply-adds and loads for each word of a sum, times what few items leave idle.

        A tile has `parts` work-items.
        """
        shape, target, grid = self.shape, self.target, grid_of(self.shape, tile)
        words = tile.texels
        # Neighbouring columns share the reads of a window's taps.
        read = (tile.columns - 1 + shape.taps) / shape.taps if shape.taps > 1 else tile.columns
        step = TEXEL * words + target.machine.access_cost * (read + tile.blocks)
        covered = prod(grid) * words / prod(shape.extents) * TEXEL
        wanted = target.device.compute_units * target.machine.preferred_work_group
        return covered * step / words * max(1.0, wanted / (prod(grid) * parts))

    @cached_property
    def best(self) -> TexelTile:
        """The cheapest tile of a work-item."""
        return min(self.shape.tiles(), key=self.cost)


def byte_tile_domains(shape: ByteTexels) -> Domains:
    """Return the domains of `COLUMNS`, `BLOCKS` and `WINDOW`."""
    return {
        **tile_domains(shape),
        WINDOW.name: lambda params: Choice(shape.windows(tile_of(params))),
    }


def default_window(shape: ByteTexels, tile: TexelTile) -> int:
    """Return 1 if the text has room for the taps of a row, since columns share what these read."""
    return min(1, max(shape.windows(tile)))


def _groups(shape: ByteTexels, tile: TexelTile, target: cl.Target) -> Shapes:
    return Shapes(grid_of(shape, tile), target)


def _domains(shape: ByteTexels, target: cl.Target) -> Domains:
    return {
        **byte_tile_domains(shape),
        GROUP.name: lambda params: _groups(shape, tile_of(params), target),
    }


def _default(space: Space[ByteTexels]) -> Params:
    tile = space.model(ByteTexelModel).best
    return Params(
        {
            COLUMNS.name: tile.columns,
            BLOCKS.name: tile.blocks,
            WINDOW.name: default_window(space.structure, tile),
            GROUP.name: _groups(space.structure, tile, space.target).best(),
        }
    )


def _apply(schedule: Schedule, shape: ByteTexels, params: Params) -> None:
    """Compute one tile in each work-item."""
    contraction, products = shape.contraction, shape.products
    products.pack(schedule, TEXEL, terms_first=True)
    output = TiledOutput.bind(schedule, shape, contraction.output, params)
    block = contraction.stage.block
    inner, rank = schedule.compute_at(block, output.item), len(shape.extents)
    reduce = inner[rank:]
    terms, quad = schedule.split(reduce.pop(contraction.stage.reduce.index(products.term)), QUAD)
    TiledLoops(inner[:rank], [terms, *reduce], [], [quad]).tile(schedule, shape, params)
    output.expand(schedule)
    schedule.keep_private(block)
    join_grid_of_texels(schedule, contraction.borders, contraction.output)


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
"""The operands determine the variables of texels, columns and terms."""
