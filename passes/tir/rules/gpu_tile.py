"""Contractions on a GPU: a small register tile for each work-item."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

from ....dialects import cl
from ..schedule import Schedule
from .contraction import (
    CONSTANTS,
    NO_CONTRACTION,
    Contraction,
    pack_constants,
    tile_reduction,
)
from .grid import bind_groups, group_parameter, group_size, join_grid
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Parameter, Params, Range, Space

_MOST_ROWS = 16
_WIDTHS = (1, 2, 3, 4, 8, 16)


@dataclass(frozen=True)
class _Tile:
    """Columns along the output's memory, rows along another variable."""

    row: int
    rows: int
    col: int
    width: int

    @property
    def cols(self) -> int:
        """Elements of a row: one vector."""
        return self.width

    @staticmethod
    def of(contraction: Contraction, params: Params) -> _Tile:
        col = _column(contraction)
        assert col is not None, "the rule fits"
        return _Tile(params.number("row"), params.number("rows"), col, params.number("width"))


def _column(contraction: Contraction) -> int | None:
    """The variable along the output's memory."""
    return next((i for i, step in enumerate(contraction.store_steps) if step == 1), None)


@dataclass(frozen=True)
class _Facts:
    contraction: Contraction
    target: cl.Target
    col: int

    @cached_property
    def others(self) -> list[int]:
        """The variables that can be rows."""
        extents = self.contraction.extents
        return [i for i in range(len(extents)) if i != self.col and extents[i] > 1]


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts] | Misfit:
    contraction = kernel.contraction
    if contraction is None:
        return Misfit(NO_CONTRACTION)
    extents, col = contraction.extents, _column(contraction)
    if col is None or extents[col] == 1:
        return Misfit("no variable of its result runs along memory")
    facts = _Facts(contraction, target, col)
    if not facts.others:
        return Misfit("its result is one row")
    most = max(_MOST_ROWS, target.register_rows)

    def rows(params: Params) -> Range:
        return Range(1, min(most, extents[params.number("row")]))

    widths = tuple(width for width in _WIDTHS if width <= extents[col])
    return Space(
        (
            Parameter("row", "the variable of the rows", Choice(tuple(facts.others))),
            Parameter("rows", "rows of a tile", rows),
            Parameter("width", "columns of a tile, the lanes of its vectors", Choice(widths)),
            CONSTANTS,
            group_parameter(target),
        ),
        facts,
    )


def _default(space: Space[_Facts]) -> Params:
    """Rows along what the columns do not depend on."""
    facts = space.facts
    contraction, target, col = facts.contraction, facts.target, facts.col
    extents = contraction.extents
    shared = [i for i in facts.others if any(load.steps[i] == 0 for load in contraction.loads)]
    row = max(shared or facts.others, key=lambda i: extents[i])
    width, rows = min(target.register_cols, 4), target.register_rows
    while width > extents[col]:
        width //= 2
    while rows > extents[row]:
        rows //= 2
    # Smaller tiles until there are enough to hide latencies.
    wanted = target.compute_units * target.tiles_per_unit
    while rows * width > 1 and prod(extents) // (rows * width) < wanted:
        if rows >= width:
            rows //= 2
        else:
            width //= 2
    tiles = prod(extents) // (extents[row] * extents[col])
    tiles *= -(-extents[row] // rows) * -(-extents[col] // width)
    return Params(
        {
            "row": row,
            "rows": rows,
            "width": width,
            "constants": "packed",
            "group": group_size(tiles, target),
        }
    )


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    """One tile for each work-item; neighbours compute neighbouring columns."""
    contraction = kernel.contraction
    assert contraction is not None, "the rule fits"
    tile = _Tile.of(contraction, params)
    if params.word("constants") == "packed":
        pack_constants(schedule, contraction, tile)
    loops = contraction.output.loops
    tiles, row = schedule.split(loops[tile.row], tile.rows, overlap=True)
    cols, lanes = schedule.split(loops[tile.col], tile.width, overlap=True)
    places = {tile.row: tiles, tile.col: cols}
    rest = [i for i in range(len(loops)) if i != tile.col]
    grid = [places.get(i, loops[i]) for i in [*rest, tile.col]]
    schedule.reorder(*grid, row, lanes)
    fused = schedule.fuse(*grid, name="tile")
    local = bind_groups(schedule, [fused], params.number("group"))
    inner = schedule.compute_at(contraction.stage.block, local)
    tile_reduction(schedule, contraction, tile, inner)
    schedule.unroll(row)
    if tile.width > 1:
        schedule.vectorize(lanes)
    schedule.keep_private(contraction.stage.block)
    join_grid(schedule, kernel.borders, contraction.output)


GPU_TILE = Rule(
    "gpu-tile", 1, Kernels(device="gpu", texels=False, reductions=True), _fit, _default, _apply
)
"""Tiles follow each other along memory, so the order of the grid needs no decision."""
