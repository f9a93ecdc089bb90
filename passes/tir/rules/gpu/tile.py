"""Contractions on a GPU: a small register tile for each work-item."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

from .....dialects import cl
from ...schedule import Schedule
from ..naive_kernel import NaiveKernel, whole_contraction
from ..rule import Needs, Rule
from ..shared.contraction import (
    CONSTANTS,
    CONSTANTS_DOMAIN,
    Contraction,
    pack_constants,
    tile_reduction,
)
from ..shared.grid import GROUP, bind_groups, group_size, group_sizes, join_grid
from ..space import Choice, Domains, NotApplicable, Params, Range, Space, number

_TILES_PER_UNIT = 256
"""Work-items per compute unit that hide its latencies: two waves for each of the four schedulers of
an NVIDIA multiprocessor (a guess)."""

_MOST_ROWS = 16
"""Rows of a tile: each is a statement of the unrolled text, and a vector of registers."""
_WIDTHS = (1, 2, 3, 4, 8, 16)


ROW = number("row", "the variable of the rows")
ROWS = number("rows", "rows of a tile")
WIDTH = number("width", "columns of a tile, the lanes of its vectors")


@dataclass(frozen=True)
class VectorTile:
    """Columns along the output's memory, rows along another variable."""

    row: int
    rows: int
    col: int
    width: int

    @property
    def cols(self) -> int:
        """Elements of a row: one vector."""
        return self.width


@dataclass(frozen=True)
class PlainProduct:
    """A contraction whose result has columns along memory, and rows."""

    contraction: Contraction
    col: int

    @staticmethod
    def of(kernel: NaiveKernel) -> PlainProduct | NotApplicable:
        """Return the product that a kernel is."""
        contraction = kernel.once(whole_contraction)
        if isinstance(contraction, NotApplicable):
            return contraction
        col = next((i for i, step in enumerate(contraction.store_steps) if step == 1), None)
        if col is None or contraction.extents[col] == 1:
            return NotApplicable("no variable of its result runs along memory")
        product = PlainProduct(contraction, col)
        return product if product.others else NotApplicable("its result is one row")

    @cached_property
    def others(self) -> list[int]:
        """The variables that can be rows."""
        extents = self.contraction.extents
        return [i for i in range(len(extents)) if i != self.col and extents[i] > 1]

    def tile(self, params: Params) -> VectorTile:
        """Return the tile of a point."""
        row, rows, width = (params.number(each.name) for each in (ROW, ROWS, WIDTH))
        return VectorTile(row, rows, self.col, width)


def _domains(product: PlainProduct, target: cl.Target) -> Domains:
    extents, col = product.contraction.extents, product.col

    def rows(params: Params) -> Range:
        return Range(1, min(_MOST_ROWS, extents[params.number(ROW.name)]))

    return {
        ROW.name: Choice(tuple(product.others)),
        ROWS.name: rows,
        WIDTH.name: Choice(tuple(width for width in _WIDTHS if width <= extents[col])),
        CONSTANTS.name: CONSTANTS_DOMAIN,
        GROUP.name: group_sizes(target),
    }


def _default(space: Space[PlainProduct]) -> Params:
    """Return a tile with rows along what the columns do not depend on."""
    product, target = space.structure, space.target
    contraction, col = product.contraction, product.col
    extents = contraction.extents
    shared = [i for i in product.others if any(load.steps[i] == 0 for load in contraction.loads)]
    row = max(shared or product.others, key=lambda i: extents[i])
    width, rows = (
        min(target.machine.register_tile, 4),
        min(target.machine.register_tile, _MOST_ROWS),
    )
    while width > extents[col]:
        width //= 2
    while rows > extents[row]:
        rows //= 2
    # Smaller tiles until there are enough to hide latencies.
    wanted = target.device.compute_units * _TILES_PER_UNIT
    while rows * width > 1 and prod(extents) // (rows * width) < wanted:
        if rows >= width:
            rows //= 2
        else:
            width //= 2
    tiles = prod(extents) // (extents[row] * extents[col])
    tiles *= -(-extents[row] // rows) * -(-extents[col] // width)
    return Params(
        {
            ROW.name: row,
            ROWS.name: rows,
            WIDTH.name: width,
            CONSTANTS.name: "packed",
            GROUP.name: group_size(tiles, target),
        }
    )


def _apply(schedule: Schedule, product: PlainProduct, params: Params) -> None:
    """Compute one tile in each work-item; neighbours compute neighbouring columns."""
    contraction, tile = product.contraction, product.tile(params)
    if params.word(CONSTANTS.name) == "packed":
        pack_constants(schedule, contraction, tile)
    loops = contraction.output.loops
    tiles, row = schedule.split(loops[tile.row], tile.rows, overlap=True)
    cols, lanes = schedule.split(loops[tile.col], tile.width, overlap=True)
    places = {tile.row: tiles, tile.col: cols}
    rest = [i for i in range(len(loops)) if i != tile.col]
    grid = [places.get(i, loops[i]) for i in [*rest, tile.col]]
    schedule.reorder(*grid, row, lanes)
    fused = schedule.fuse(*grid, name="tile")
    local = bind_groups(schedule, [fused], params.number(GROUP.name))
    inner = schedule.compute_at(contraction.stage.block, local)
    tile_reduction(schedule, contraction, tile, inner)
    schedule.unroll(row)
    if tile.width > 1:
        schedule.vectorize(lanes)
    schedule.keep_private(contraction.stage.block)
    join_grid(schedule, contraction.borders, contraction.output)


GPU_TILE = Rule(
    "gpu-tile",
    1,
    Needs(device="gpu", texels=False, reductions=True),
    (ROW, ROWS, WIDTH, CONSTANTS, GROUP),
    PlainProduct.of,
    _domains,
    _default,
    _apply,
)
"""The order of the grid is no parameter: tiles follow each other along memory."""
