"""Tiles of texels: a work-item's part of a result whose channels are lanes of texels.

Shared by the rules for sums of such results, in floats and in bytes: the parameters of a tile, and
the loops of the output and of the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from .....dialects import tir
from .....dialects.tir import TEXEL
from ...schedule import Schedule
from ..space import Choice, Domains, Params, Range, number, numbers
from ..stages import KernelStage
from .work_items import bind_items

COLUMNS = number("columns", "columns of a tile")
BLOCKS = number("blocks", "texels of a column")
ROWS = number("rows", "rows of a tile")
GROUP = numbers("group", "work-items of a group")
WINDOW = number("window", "innermost loops of the reduction that are unrolled")
ROLLED = number("rolled", "loops whose bound is hidden from the device's compiler")


@dataclass(frozen=True)
class TexelTile:
    """What a work-item computes: `blocks` texels at `columns` points of each of its `rows`."""

    columns: int
    blocks: int = 1
    rows: int = 1

    @property
    def texels(self) -> int:
        """All that it computes."""
        return self.columns * self.blocks * self.rows


class TexelSums(Protocol):
    """The sums of a kernel, whose channels are the lanes of texels."""

    @property
    def extents(self) -> tuple[int, ...]: ...
    @property
    def lane(self) -> int: ...
    @property
    def column(self) -> int | None: ...
    @property
    def row(self) -> int | None: ...
    @property
    def texels(self) -> int: ...
    @property
    def most_columns(self) -> int: ...
    def blocks(self, columns: int) -> tuple[int, ...]:
        """Return the numbers of texels that a tile of some columns can have."""
        ...


def column_of(extents: Sequence[int], lane: int) -> int | None:
    """Return the variable of a result whose points a tile has several of; None if all are one."""
    return max((i for i in range(len(extents)) if i != lane and extents[i] > 1), default=None)


def grid_of(shape: TexelSums, tile: TexelTile) -> list[int]:
    """Return the sizes of the loops over tiles, outermost first."""
    sizes = list(shape.extents)
    sizes[shape.lane] = shape.texels // tile.blocks
    for variable, size in ((shape.column, tile.columns), (shape.row, tile.rows)):
        if variable is not None:
            sizes[variable] = -(-sizes[variable] // size)
    return sizes


def tile_domains(shape: TexelSums) -> Domains:
    """Return the domains of `COLUMNS` and `BLOCKS`."""
    return {
        COLUMNS.name: Range(1, shape.most_columns),
        BLOCKS.name: lambda params: Choice(shape.blocks(params.number(COLUMNS.name))),
    }


def tile_of(params: Params) -> TexelTile:
    """Return the tile of a point."""
    rows = params.number(ROWS.name) if ROWS.name in params.values else 1
    return TexelTile(params.number(COLUMNS.name), params.number(BLOCKS.name), rows)


@dataclass(frozen=True)
class TiledOutput:
    """The loops of an output whose tiles are bound to work-items."""

    item: tir.ForOp
    """The innermost one over work-items."""
    inside: list[tir.ForOp]
    """Over the texels of a tile."""
    lanes: tir.ForOp

    @staticmethod
    def bind(
        schedule: Schedule, shape: TexelSums, output: KernelStage, params: Params
    ) -> TiledOutput:
        """Run one work-item for each tile; neighbours take neighbouring columns."""
        loops, tile, inside = list(output.loops), tile_of(params), list[tir.ForOp]()
        loops[shape.lane], lanes = schedule.split(loops[shape.lane], TEXEL)
        if tile.blocks > 1:
            loops[shape.lane], texels = schedule.split(loops[shape.lane], tile.blocks)
            inside.append(texels)
        for variable, size in ((shape.row, tile.rows), (shape.column, tile.columns)):
            if variable is not None:
                loops[variable], points = schedule.split(loops[variable], size, overlap=True)
                inside.append(points)
        schedule.reorder(*loops, *inside, lanes)
        item = bind_items(schedule, loops, params.numbers(GROUP.name))
        return TiledOutput(item, inside, lanes)

    def expand(self, schedule: Schedule) -> None:
        """Unroll the tile, texels as vectors."""
        for loop in self.inside:
            schedule.unroll(loop)
        schedule.vectorize(self.lanes)


@dataclass(frozen=True)
class TiledLoops:
    """The loops of a sum that is computed for each tile."""

    spatial: Sequence[tir.ForOp]
    """Over its results, and others that run once."""
    reduce: Sequence[tir.ForOp]
    """Over its terms, those of `channels` and `quads` apart."""
    channels: Sequence[tir.ForOp]
    """Over the lanes of a texel of terms."""
    quads: Sequence[tir.ForOp] = field(default=())
    """Over four terms that one instruction adds to each lane."""

    def tile(self, schedule: Schedule, shape: TexelSums, params: Params) -> None:
        """Order the loops: channels and rows outside, then the unrolled ones, lanes innermost."""
        tiled = [shape.lane, *(i for i in (shape.row, shape.column) if i is not None)]
        columns = [self.spatial[i] for i in tiled[1:]]
        single = [loop for i, loop in enumerate(self.spatial) if i not in tiled]
        blocks, lanes = schedule.split(self.spatial[shape.lane], TEXEL)
        running = [loop for loop in self.reduce if loop.size > 1]
        window = running[len(running) - params.number(WINDOW.name) :]
        serial = [loop for loop in self.reduce if loop not in window]
        expanded = [*window, blocks, *columns, *self.channels]
        schedule.reorder(*single, *serial, *expanded, lanes, *self.quads)
        for loop in (*expanded, *self.quads):
            schedule.unroll(loop)
        schedule.vectorize(lanes)
        if params.values.get(ROLLED.name):
            schedule.roll(next(loop for loop in reversed(serial) if loop.size > 1))
