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

from .....dialects import cl
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
    Space,
    number,
)
from ..stages import split_channels
from .texel_reduction import MOST_TAPS, TexelReduction, candidates, cost_of, is_depthwise
from .tiles import (
    BLOCKS,
    COLUMNS,
    GROUP,
    ROLLED,
    ROWS,
    WINDOW,
    TexelTile,
    TiledLoops,
    TiledOutput,
    grid_of,
    tile_domains,
    tile_of,
)
from .work_items import Shapes

_MOST_COPIES = 1024
"""Most multiply-adds in the text of an unrolled step; more only slow compilers down."""


LANES = number(
    "lanes",
    "steps along a row that share a texel",
    when="kernels that read patches of plain rows, on devices that read rows by texels",
    absent=1,
)


def _groups(shape: TexelReduction, tile: TexelTile, target: cl.Target) -> Shapes:
    """Return the groups of work-items that compute such tiles."""
    return Shapes(grid_of(shape, tile), target, slots=shape.products(tile))


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

        Idle lanes of groups only add to a tile's cost, so few candidates need a group.
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
    """Compute one tile in each work-item."""
    kernel, block = shape.kernel, shape.stage.block
    output = TiledOutput.bind(schedule, shape, kernel.main, params)
    inner, rank = schedule.compute_at(block, output.item), len(shape.extents)
    reduce = inner[rank:]
    channels = split_channels(schedule, shape.stage, reduce)
    if params.number(LANES.name) > 1:
        last = next(i for i in reversed(range(len(reduce))) if reduce[i].size > 1)
        reduce[last], lane = schedule.split(reduce[last], params.number(LANES.name))
        channels.append(lane)
    TiledLoops(inner[:rank], reduce, channels).tile(schedule, shape, params)
    output.expand(schedule)
    schedule.keep_private(block)
    join_grid_of_texels(schedule, kernel.borders, kernel.main)


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
"""The layout determines the variables of texels and columns."""
