"""Kernels over packed tensors: four channels at a time, in images as in buffers.

A work-item of a contraction computes a texel, four channels of the output, at a few neighbouring
columns. Each step of the reduction reads a few texels of activations and of weights and multiplies
them all, so that every texel is used several times: 18 reads feed 192 multiply-adds of a 3x3
convolution. The same kernel reads images or buffers; the lowering makes the difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, prod

from .....dialects import cl, tir
from .....dialects.tir import TEXEL
from ...schedule import Schedule
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.grid import join_grid_of_texels
from ..space import (
    AnyDomain,
    Choice,
    Domains,
    NotApplicable,
    Params,
    Range,
    Space,
    number,
    numbers,
)
from ..stages import split_channels
from .texel_reduction import MOST_TAPS, TexelReduction, TexelTile, candidates, cost_of, is_depthwise
from .work_items import Shapes, bind_items

_MOST_COPIES = 1024
"""Multiply-adds in the text of an unrolled step of a reduction; more only slows compilers down."""


COLUMNS = number("columns", "columns of a tile")
BLOCKS = number("blocks", "texels of a column")
ROWS = number("rows", "rows of a tile")
GROUP = numbers("group", "work-items of a group")
WINDOW = number("window", "innermost loops of the reduction that are unrolled")
ROLLED = number("rolled", "loops whose bound is hidden from the device's compiler")
LANES = number(
    "lanes",
    "steps along a row that share a texel",
    when="kernels that read patches of plain rows, on devices that read rows by texels",
    absent=1,
)


def _groups(shape: TexelReduction, tile: TexelTile, target: cl.Target) -> Shapes:
    """Return the groups of work-items that compute such tiles."""
    return Shapes(shape.grid(tile), target, slots=shape.products(tile))


@dataclass(frozen=True)
class TexelTileModel:
    """Chooses the tile of a reduction to texels."""

    structure: TexelReduction
    target: cl.Target

    @cached_property
    def shape(self) -> TexelReduction:
        """The reduction as the device reads it."""
        return self.structure.on(self.target)

    @cached_property
    def best(self) -> tuple[float, TexelTile]:
        """The least cost, and its tile.

        Groups with idle lanes only add to what a tile costs, so that few candidates need one.
        """
        shape, target = self.shape, self.target
        costs = [(cost_of(shape, tile, target), tile) for tile in candidates(shape, target)]
        best, chosen = min(costs, key=lambda pair: pair[0])
        if not target.machine.item_slots:
            return best, chosen
        best = inf
        for cost, tile in sorted(costs, key=lambda pair: pair[0]):
            if cost >= best:
                break
            whole = cost / _groups(shape, tile, target).use()
            if whole < best:
                best, chosen = whole, tile
        return best, chosen


def has_few_texels(kernel: NaiveKernel, target: cl.Target) -> bool:
    """Return whether the best tile is a texel: there are too few of them for the device."""
    shape = kernel.once(TexelReduction.of)
    if isinstance(shape, NotApplicable):
        return False
    return TexelTileModel(shape, target).best[1] == TexelTile(1, 1)


def _domains(structure: TexelReduction, target: cl.Target) -> Domains:
    shape = structure.on(target)
    found: dict[str, AnyDomain] = {
        **tile_domains(shape),
        ROWS.name: lambda params: Choice(shape.rows(params.number(COLUMNS.name))),
        GROUP.name: lambda params: _groups(shape, tile_of(params), target),
        **loop_domains(shape),
    }
    if shape.in_patches:
        found[LANES.name] = Choice((TEXEL,))
    return found


def tile_domains(shape: TexelReduction) -> dict[str, AnyDomain]:
    """Return the domains of `COLUMNS` and `BLOCKS`."""
    return {
        COLUMNS.name: Range(1, shape.most_columns),
        BLOCKS.name: lambda params: Choice(shape.blocks(params.number(COLUMNS.name))),
    }


def loop_domains(shape: TexelReduction) -> dict[str, AnyDomain]:
    """Return the domains of `WINDOW` and `ROLLED`."""

    def window(params: Params) -> Choice:
        """Return the unroll depths whose expansion stays below `_MOST_COPIES`."""
        counts = range(len(shape.running) + 1)
        most = _MOST_COPIES // shape.copies(tile_of(params))
        return Choice(
            tuple(n for n in counts if prod(shape.running[len(shape.running) - n :]) <= most)
        )

    def rolled(params: Params) -> Choice:
        return Choice((0, 1) if params.number(WINDOW.name) < len(shape.running) else (0,))

    return {WINDOW.name: window, ROLLED.name: rolled}


def tile_of(params: Params) -> TexelTile:
    """Return the tile of a point."""
    rows = params.number(ROWS.name) if ROWS.name in params.values else 1
    return TexelTile(params.number(COLUMNS.name), params.number(BLOCKS.name), rows)


def _default(space: Space[TexelReduction]) -> Params:
    model, target = space.model(TexelTileModel), space.target
    shape, tile = model.shape, model.best[1]
    return Params(
        {
            COLUMNS.name: tile.columns,
            BLOCKS.name: tile.blocks,
            ROWS.name: tile.rows,
            GROUP.name: _groups(shape, tile, target).best(),
            **default_loops(shape, tile, target),
            **({LANES.name: TEXEL} if shape.in_patches else {}),
        }
    )


def default_loops(shape: TexelReduction, tile: TexelTile, target: cl.Target) -> dict[str, int]:
    """Return values of `WINDOW` and `ROLLED`."""
    window = _window(shape, tile)
    rolled = target.compiler.rolled_loops and window < len(shape.running)
    return {WINDOW.name: window, ROLLED.name: int(rolled)}


def _window(shape: TexelReduction, tile: TexelTile) -> int:
    """Return 1 for a reduction over a window, whose taps share what they read.

    A small window of one channel, or of a plain operand, is too little work for a loop: all of its
    loops are unrolled.
    """
    running = shape.running
    if shape.in_patches:
        return 0
    most = min(MOST_TAPS, _MOST_COPIES // shape.copies(tile))
    if is_depthwise(shape.stage, shape.lane) and prod(running) <= most:
        return len(running)
    if shape.plain is not None and shape.plain.is_aligned(tile.columns):
        # The channels stay a loop.
        if len(running) > 2 and prod(running[-2:]) <= most:
            return 2
    return 1 if len(running) > 1 and running[-1] <= most else 0


def _apply(schedule: Schedule, shape: TexelReduction, params: Params) -> None:
    """Compute one tile in each work-item; neighbours compute neighbouring columns."""
    kernel = shape.kernel
    tile, lane, row, column = tile_of(params), shape.lane, shape.row, shape.column
    loops = list(kernel.main.loops)
    loops[lane], lanes = schedule.split(loops[lane], TEXEL)
    inside: list[tir.ForOp] = []
    if tile.blocks > 1:
        loops[lane], blocks = schedule.split(loops[lane], tile.blocks)
        inside.append(blocks)
    if row is not None:
        loops[row], rows = schedule.split(loops[row], tile.rows, overlap=True)
        inside.append(rows)
    if column is not None:
        loops[column], columns = schedule.split(loops[column], tile.columns, overlap=True)
        inside.append(columns)
    schedule.reorder(*loops, *inside, lanes)
    local = bind_items(schedule, loops, params.numbers(GROUP.name))
    inner = schedule.compute_at(shape.stage.block, local)
    rank = len(shape.extents)
    reduce = inner[rank:]
    channels = split_channels(schedule, shape.stage, reduce)
    if params.number(LANES.name) > 1:
        last = next(i for i in reversed(range(len(reduce))) if reduce[i].size > 1)
        reduce[last], lane = schedule.split(reduce[last], params.number(LANES.name))
        channels.append(lane)
    TiledLoops(inner[:rank], reduce, channels).tile(schedule, shape, params)
    for loop in inside:
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    schedule.keep_private(shape.stage.block)
    join_grid_of_texels(schedule, kernel.borders, kernel.main)


@dataclass(frozen=True)
class TiledLoops:
    """The loops of a reduction whose lanes of channels are apart."""

    spatial: list[tir.ForOp]
    """Over its results, and others that run once."""
    reduce: list[tir.ForOp]
    channels: list[tir.ForOp]

    def tile(self, schedule: Schedule, shape: TexelReduction, params: Params) -> None:
        """Order the loops: channels and rows outside, then the unrolled ones, lanes innermost."""
        tiled = [shape.lane, *(i for i in (shape.row, shape.column) if i is not None)]
        columns = [self.spatial[i] for i in tiled[1:]]
        single = [loop for i, loop in enumerate(self.spatial) if i not in tiled]
        blocks, lanes = schedule.split(self.spatial[shape.lane], TEXEL)
        running = [loop for loop in self.reduce if loop.size > 1]
        window = running[len(running) - params.number(WINDOW.name) :]
        serial = [loop for loop in self.reduce if loop not in window]
        expanded = [*window, blocks, *columns, *self.channels]
        schedule.reorder(*single, *serial, *expanded, lanes)
        for loop in expanded:
            schedule.unroll(loop)
        schedule.vectorize(lanes)
        if params.number(ROLLED.name):
            schedule.roll(next(loop for loop in reversed(serial) if loop.size > 1))


TEXEL_TILE = Rule(
    "texel-tile",
    2,
    Needs(texels=True, reductions=True),
    (COLUMNS, BLOCKS, ROWS, GROUP, WINDOW, ROLLED, LANES),
    TexelReduction.of,
    _domains,
    _default,
    _apply,
)
"""Which variables are texels and columns follows from the layout."""
