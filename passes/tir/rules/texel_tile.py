"""Kernels over packed tensors: four channels at a time, in images as in buffers.

A work-item of a contraction computes a texel, four channels of the output, at a few neighbouring
columns. Each step of the reduction reads a few texels of activations and of weights and multiplies
them all, so that every texel is used several times: 18 reads feed 192 multiply-adds of a 3x3
convolution. The same kernel reads images or buffers; what differs is made by the lowering.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, prod

from ....dialects import cl, tir
from ....dialects.tir import TEXEL
from ..schedule import Schedule
from .grid import join_grid_of_texels
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Parameter, Params, Range, Space
from .stages import split_channels
from .texel_shape import MOST_TAPS, TexelShape, TexelTile, candidates, cost_of, is_depthwise
from .work_items import Shapes, bind_items

_MOST_COPIES = 1024
"""Multiply-adds in the text of an unrolled step of a reduction; more only slows compilers down."""


@dataclass(frozen=True)
class _Facts:
    shape: TexelShape
    target: cl.Target

    @cached_property
    def best(self) -> TexelTile:
        return best_tile(self.shape, self.target)[1]


def _groups(shape: TexelShape, tile: TexelTile, target: cl.Target) -> Shapes:
    """The groups of work-items that compute such tiles."""
    slots = shape.products(tile) if target.item_slots else 0
    return Shapes(shape.grid(tile), target, slots=slots)


def best_tile(shape: TexelShape, target: cl.Target) -> tuple[float, TexelTile]:
    """The tile of the least cost, and that.

    Groups with idle lanes only add to what a tile costs, so that few candidates need one.
    """
    costs = [(cost_of(shape, tile, target), tile) for tile in candidates(shape, target)]
    best, chosen = min(costs, key=lambda pair: pair[0])
    if not target.item_slots:
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
    """Whether the best tile is a texel: there are too few of them for the device."""
    shape = TexelShape.of(kernel, target)
    return shape is not None and _Facts(shape, target).best == TexelTile(1, 1)


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts] | Misfit:
    shape = TexelShape.of(kernel, target)
    if shape is None:
        return Misfit("it is not one reduction to texels that an output reads element by element")
    return Space(
        (
            *tile_parameters(shape),
            Parameter("rows", "rows of a tile", lambda p: Choice(shape.rows(p.number("columns")))),
            Parameter(
                "group", "work-items of a group", lambda p: _groups(shape, tile_of(p), target)
            ),
            *loop_parameters(shape),
            *row_parameters(shape),
        ),
        _Facts(shape, target),
    )


def tile_parameters(shape: TexelShape) -> tuple[Parameter, Parameter]:
    """What a tile is."""
    return (
        Parameter("columns", "columns of a tile", Range(1, shape.most_columns)),
        Parameter(
            "blocks", "texels of a column", lambda p: Choice(shape.blocks(p.number("columns")))
        ),
    )


def loop_parameters(shape: TexelShape) -> tuple[Parameter, Parameter]:
    """What becomes of the loops of the reduction."""

    def window(params: Params) -> Choice:
        """As many of the innermost loops as the text may have copies of."""
        counts = range(len(shape.running) + 1)
        most = _MOST_COPIES // shape.copies(tile_of(params))
        return Choice(
            tuple(n for n in counts if prod(shape.running[len(shape.running) - n :]) <= most)
        )

    def rolled(params: Params) -> Choice:
        return Choice((0, 1) if params.number("window") < len(shape.running) else (0,))

    return (
        Parameter("window", "innermost loops of the reduction that are unrolled", window),
        Parameter("rolled", "loops whose bound is hidden from the device's compiler", rolled),
    )


def row_parameters(shape: TexelShape) -> tuple[Parameter, ...]:
    """How patches of a plain operand are read, which takes their rows by texels."""
    if not shape.in_patches:
        return ()
    return (Parameter("lanes", "steps along a row that share a texel", Choice((TEXEL,))),)


def tile_of(params: Params) -> TexelTile:
    rows = params.number("rows") if "rows" in params.values else 1
    return TexelTile(params.number("columns"), params.number("blocks"), rows)


def _default(space: Space[_Facts]) -> Params:
    facts = space.facts
    shape, tile = facts.shape, facts.best
    return Params(
        {
            "columns": tile.columns,
            "blocks": tile.blocks,
            "rows": tile.rows,
            "group": _groups(shape, tile, facts.target).best(),
            **default_loops(shape, tile, facts.target),
            **({"lanes": TEXEL} if shape.in_patches else {}),
        }
    )


def default_loops(shape: TexelShape, tile: TexelTile, target: cl.Target) -> dict[str, int]:
    """Values of `loop_parameters`."""
    window = _window(shape, tile)
    rolled = target.rolled_loops and window < len(shape.running)
    return {"window": window, "rolled": int(rolled)}


def _window(shape: TexelShape, tile: TexelTile) -> int:
    """The innermost loop of a reduction over a window: its taps share what they read.

    All loops of a small window of one channel, or of a plain operand: that is too little work for a
    loop.
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


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    """One tile for each work-item; neighbours compute neighbouring columns."""
    shape = TexelShape.of(kernel)
    assert shape is not None, "the rule fits"
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
    local = bind_items(schedule, loops, params.numbers("group"))
    inner = schedule.compute_at(shape.stage.block, local)
    rank = len(shape.extents)
    reduce = inner[rank:]
    channels = split_channels(schedule, shape.stage, reduce)
    if "lanes" in params.values:
        last = next(i for i in reversed(range(len(reduce))) if reduce[i].size > 1)
        reduce[last], lane = schedule.split(reduce[last], params.number("lanes"))
        channels.append(lane)
    Reduction(inner[:rank], reduce, channels).tile(schedule, shape, params)
    for loop in inside:
        schedule.unroll(loop)
    schedule.vectorize(lanes)
    schedule.keep_private(shape.stage.block)
    join_grid_of_texels(schedule, kernel.borders, kernel.main)


@dataclass(frozen=True)
class Reduction:
    """The loops of a reduction whose lanes of channels are apart."""

    spatial: list[tir.ForOp]
    """Over its results, and others that run once."""
    reduce: list[tir.ForOp]
    channels: list[tir.ForOp]

    def tile(self, schedule: Schedule, shape: TexelShape, params: Params) -> None:
        """Order the loops: channels and rows outside, then the unrolled ones, lanes innermost."""
        tiled = [shape.lane, *(i for i in (shape.row, shape.column) if i is not None)]
        columns = [self.spatial[i] for i in tiled[1:]]
        single = [loop for i, loop in enumerate(self.spatial) if i not in tiled]
        blocks, lanes = schedule.split(self.spatial[shape.lane], TEXEL)
        running = [loop for loop in self.reduce if loop.size > 1]
        window = running[len(running) - params.number("window") :]
        serial = [loop for loop in self.reduce if loop not in window]
        expanded = [*window, blocks, *columns, *self.channels]
        schedule.reorder(*single, *serial, *expanded, lanes)
        for loop in expanded:
            schedule.unroll(loop)
        schedule.vectorize(lanes)
        if params.number("rolled"):
            schedule.roll(next(loop for loop in reversed(serial) if loop.size > 1))


def _cost_at(space: Space[_Facts], params: Params) -> float:
    return cost_of(space.facts.shape, tile_of(params), space.facts.target)


TEXEL_TILE = Rule(
    "texel-tile", 2, Kernels(texels=True, reductions=True), _fit, _default, _apply, _cost_at
)
"""Which variables are texels and columns follows from the layout."""
