"""Products of bytes on a GPU that adds four of them to a sum by one instruction.

Values lie in texels of four channels, so that a texel of bytes is a word: four terms of a sum. A
work-item computes some texels at some columns. Each step of the reduction reads a word for each
column and, for each texel of channels, four words of weights, which are packed so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ....dialects import cl, tir
from ....dialects.tir import QUAD, TEXEL
from ..schedule import Schedule
from .byte_products import ByteProducts
from .channel_tiles import Tile
from .contraction import Contraction
from .grid import join_grid_of_texels
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Parameter, Params, Range, Space
from .work_items import Shapes, bind_items

_MOST_COLUMNS = 8
_BLOCKS = (1, 2, 4, 8)
_ACCUMULATORS = 16
"""Texels of sums of a work-item at the most."""
_MOST_COPIES = 256
"""Texels of sums in the text of an unrolled window at the most."""


@dataclass(frozen=True)
class Problem:
    """A sum of products of bytes, whose tiles have texels at some columns."""

    products: ByteProducts
    target: cl.Target

    @property
    def contraction(self) -> Contraction:
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
        return min(self.width, _MOST_COLUMNS)

    def blocks(self, columns: int) -> tuple[int, ...]:
        """Texels of a column that a tile can have."""
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

    def windows(self, tile: Tile) -> tuple[int, ...]:
        """How many innermost loops of the window can be unrolled."""
        copies = tile.blocks * tile.columns * self.taps
        return (0, 1) if self.window is not None and copies <= _MOST_COPIES else (0,)

    def grid(self, tile: Tile) -> list[int]:
        """The loops over tiles, outermost first."""
        sizes = list(self.extents)
        sizes[self.lane] = self.texels // tile.blocks
        if self.column is not None:
            sizes[self.column] = -(-self.width // tile.columns)
        return sizes

    def groups(self, tile: Tile) -> Shapes:
        """The groups of work-items that compute such tiles."""
        return Shapes(self.grid(tile), self.target)

    def cost(self, tile: Tile, parts: int = 1) -> float:
        """Multiply-adds and loads for each word of a sum, and what few work-items leave idle.

        A tile has `parts` work-items.
        """
        target, grid = self.target, self.grid(tile)
        words = tile.blocks * tile.columns
        # Columns that are neighbours share what the taps of a window read.
        read = (tile.columns - 1 + self.taps) / self.taps if self.taps > 1 else tile.columns
        step = TEXEL * words + target.access_cost * (read + tile.blocks)
        covered = prod(grid) * words / prod(self.extents) * TEXEL
        wanted = target.compute_units * target.preferred_work_group
        return covered * step / words * max(1.0, wanted / (prod(grid) * parts))

    def tiles(self) -> list[Tile]:
        """All tiles that fit the registers."""
        return [
            Tile(blocks, columns)
            for columns in range(1, self.most_columns + 1)
            for blocks in self.blocks(columns)
        ]


def problem_of(kernel: NaiveKernel, target: cl.Target) -> Problem | Misfit:
    """The sum that a kernel is, on devices that multiply bytes."""
    if not target.multiplies_bytes:
        return Misfit("the device has no instruction for products of bytes")
    products = ByteProducts.of(kernel, TEXEL)
    return products if isinstance(products, Misfit) else Problem(products, target)


def tile_parameters(problem: Problem) -> tuple[Parameter, Parameter, Parameter]:
    """What a tile is, and what becomes of its window."""
    return (
        Parameter("columns", "columns of a tile", Range(1, problem.most_columns)),
        Parameter(
            "blocks",
            "texels of a column",
            lambda params: Choice(problem.blocks(params.number("columns"))),
        ),
        Parameter(
            "window",
            "innermost loops of the window that are unrolled",
            lambda params: Choice(problem.windows(tile_of(params))),
        ),
    )


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[Problem] | Misfit:
    problem = problem_of(kernel, target)
    if isinstance(problem, Misfit):
        return problem
    group = Parameter(
        "group", "work-items of a group", lambda params: problem.groups(tile_of(params))
    )
    return Space((*tile_parameters(problem), group), problem)


def tile_of(params: Params) -> Tile:
    """What a work-item computes."""
    return Tile(params.number("blocks"), params.number("columns"))


def _default(space: Space[Problem]) -> Params:
    problem = space.facts
    tile = min(problem.tiles(), key=problem.cost)
    return Params(
        {
            "columns": tile.columns,
            "blocks": tile.blocks,
            "window": max(problem.windows(tile)),
            "group": problem.groups(tile).best(),
        }
    )


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    """One tile for each work-item; neighbours compute neighbouring columns."""
    products = ByteProducts.of(kernel, TEXEL)
    assert isinstance(products, ByteProducts), "the rule fits"
    problem, tile, lane = Problem(products, cl.Target()), tile_of(params), products.lane
    products.pack(schedule, TEXEL, terms_first=True)
    loops = list(problem.contraction.output.loops)
    loops[lane], lanes = schedule.split(loops[lane], TEXEL)
    loops[lane], blocks = schedule.split(loops[lane], tile.blocks)
    inside = [blocks]
    if problem.column is not None:
        column = loops[problem.column]
        loops[problem.column], columns = schedule.split(column, tile.columns, overlap=True)
        inside.append(columns)
    schedule.reorder(*loops, *inside, lanes)
    local = bind_items(schedule, loops, params.numbers("group"))
    block = problem.contraction.stage.block
    inner, rank = schedule.compute_at(block, local), len(problem.extents)
    reduce = inner[rank:]
    at = problem.contraction.stage.reduce.index(products.term)
    reduce[at], quad = schedule.split(reduce[at], QUAD)
    serial = [reduce.pop(at)]
    order_reduction(schedule, problem, inner[:rank], [*serial, *reduce, quad], params)
    for loop in inside:
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    schedule.keep_private(block)
    join_grid_of_texels(schedule, kernel.borders, problem.contraction.output)


def order_reduction(
    schedule: Schedule,
    problem: Problem,
    spatial: Sequence[tir.ForOp],
    reduce: Sequence[tir.ForOp],
    params: Params,
) -> None:
    """Order the loops of a tile's sum: texels of terms, the window, the tile, lanes, four terms.

    `reduce` begins with the texels and ends with the four terms. Loops of `spatial` behind those of
    the result run once.
    """
    tiled = [problem.lane, *([] if problem.column is None else [problem.column])]
    single = [loop for i, loop in enumerate(spatial) if i not in tiled]
    blocks, lanes = schedule.split(spatial[problem.lane], TEXEL)
    tile = [blocks, *(spatial[i] for i in tiled[1:])]
    terms, *window, quad = reduce
    several = [loop for loop in window if loop.size > 1]
    unrolled = several[-1:] if params.number("window") else []
    serial = [loop for loop in window if loop not in unrolled]
    schedule.reorder(*single, terms, *serial, *unrolled, *tile, lanes, quad)
    for loop in (*unrolled, *tile, quad):
        schedule.unroll(loop)
    schedule.vectorize(lanes)


DOT_TEXELS = Rule(
    "dot-texels",
    1,
    Kernels(device="gpu", reductions=True),
    _fit,
    _default,
    _apply,
    lambda space, params: space.facts.cost(tile_of(params)),
)
"""Which variables are texels, columns and terms follows from the operands."""
