"""Tiles of texels whose sums the work-items of a group share, where there are few tiles.

A small map has too few tiles for a GPU, and smaller ones read each texel for fewer products. Here
each work-item of a tile adds up some of the channels, in registers as in `texel-tile`. The sums of
all meet in local memory; then each work-item adds up those of a few texels and writes these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ....dialects import cl, tir
from ....dialects.tir import TEXEL
from ..schedule import Schedule
from ..schedule.combine import can_combine
from .grid import bind_axes, join_grid_of_texels
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .shared_sums import add_up, arrange, order_tiles, put_local
from .space import Choice, Misfit, Parameter, Params, Range, Space
from .stages import split_channels
from .texel_shape import TexelShape, TexelTile, candidates, cost_of
from .texel_tile import (
    Reduction,
    best_tile,
    default_loops,
    loop_parameters,
    tile_of,
    tile_parameters,
)

_PARTS = (2, 4, 8, 16)
_PLACE = 30
"""Issue slots in which a work-item finds the place of a texel that it writes."""
_BYTES = 4
"""Of an element of a sum, at the most."""
_GROUPS = (tir.LoopKind.GroupX, tir.LoopKind.GroupY, tir.LoopKind.GroupZ)


@dataclass(frozen=True)
class _Facts:
    shape: TexelShape
    target: cl.Target

    @cached_property
    def channels(self) -> int:
        """Texels of channels that a sum runs over."""
        lane = self.shape.stage.reduce_lane
        return 1 if lane is None else self.shape.stage.block.iter_extents[lane] // TEXEL

    def parts(self, tile: TexelTile) -> tuple[int, ...]:
        """Into how many equal parts the sums of a tile can go: each has texels to add up.

        Where these are no equal shares, only two: the bounds of more that overlap are not exact,
        and the tiles in local memory would be larger.
        """
        texels = tile.columns * tile.blocks
        most = min(texels, self.target.max_work_group_size, self.channels // 2)
        return tuple(
            n
            for n in _PARTS
            if n <= most and self.channels % n == 0 and (texels % n == 0 or texels <= 2 * n)
        )

    @cached_property
    def along(self) -> tuple[int, ...]:
        """The variables in which the tiles of a group can differ."""
        shape = self.shape
        others = (i for i in range(len(shape.extents)) if i not in (shape.lane, shape.column))
        return (shape.lane, *(i for i in others if shape.extents[i] > 1))

    def members(self, tile: TexelTile, parts: int, along: int) -> int:
        """Tiles of a group at the most."""
        memory = self.target.local_memory_bytes // self.bytes(tile, parts)
        most = min(self.target.max_work_group_size // parts, memory)
        return min(self.tiles(tile, along), most)

    def tiles(self, tile: TexelTile, along: int) -> int:
        """Tiles along a variable."""
        shape = self.shape
        return shape.texels // tile.blocks if along == shape.lane else shape.extents[along]

    @staticmethod
    def bytes(tile: TexelTile, parts: int) -> int:
        """Local memory that a tile takes."""
        return parts * tile.columns * tile.blocks * TEXEL * _BYTES

    @cached_property
    def best(self) -> tuple[float, TexelTile, int] | None:
        """The best tile by its cost, and its parts; None where no tile has any.

        Work-items that wait for each other leave room for another wave.
        """
        most = self.target.shared_tiles
        found = [
            (self.cost(tile, parts), tile.columns, tile.blocks, parts)
            for tile in candidates(self.shape, self.target)
            for parts in self.parts(tile)
            if self.shape.registers(tile) <= self.target.registers // 2
            if parts <= most and self.members(tile, parts, self.shape.lane)
        ]
        if not found:
            return None
        cost, columns, blocks, parts = min(found)
        return cost, TexelTile(columns, blocks), parts

    def group(self, tile: TexelTile, parts: int) -> tuple[float, int, int]:
        """The share of a group's lanes that computes something, its tiles and their variable."""
        most = self.target.preferred_work_group // parts
        return max(
            (self._use(self.tiles(tile, along), members, parts), members, along)
            for along in self.along
            for members in range(1, min(most, self.members(tile, parts, along)) + 1)
        )

    def _use(self, extent: int, members: int, parts: int) -> float:
        items, wave = members * parts, max(self.target.preferred_work_group // 2, 1)
        covered = -(-extent // members) * members
        return round(extent / covered * items / (-(-items // wave) * wave), 3)

    def cost(self, tile: TexelTile, parts: int) -> float:
        """As of a tile of one work-item, and what adding up the parts takes."""
        steps = prod(self.shape.stage.block.iter_extents[i] for i in self.shape.stage.reduce)
        joining = (parts * (2 + self.target.texel_cost / TEXEL) + _PLACE / TEXEL) / steps
        cost = cost_of(self.shape, tile, self.target, parts) + joining
        return cost / self.group(tile, parts)[0]


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts] | Misfit:
    shape = TexelShape.of(kernel)
    if shape is None:
        return Misfit("it is not one reduction to texels that an output reads element by element")
    sums = shape.stage.block.iter_extents[shape.lane]
    if (
        not can_combine(shape.stage.block)
        or not shape.has_whole_channels
        or sums != shape.extents[shape.lane]
    ):
        return Misfit("its sums are not of texels of channels")
    facts = _Facts(shape, target)
    space = Space(_parameters(facts), facts)
    return Misfit("its sums are too short to be shared") if space.is_empty else space


def _parameters(facts: _Facts) -> Sequence[Parameter]:
    shape = facts.shape

    def members(params: Params) -> Range:
        parts, along = params.number("parts"), params.number("along")
        return Range(1, facts.members(tile_of(params), parts, along))

    return (
        *tile_parameters(shape),
        Parameter("parts", "work-items of a tile", lambda p: Choice(facts.parts(tile_of(p)))),
        Parameter("along", "the variable in which tiles of a group differ", Choice(facts.along)),
        Parameter("members", "tiles of a group", members),
        *loop_parameters(shape),
    )


def _objection(space: Space[_Facts]) -> str | None:
    facts = space.facts
    if facts.target.shared_tiles < _PARTS[0]:
        return "the device was not measured to gain by it"
    shape, target, best = facts.shape, facts.target, facts.best
    if shape.column is None:
        return "its tiles share no weights"
    if best is None:
        return "its sums are too short"
    if best[0] >= best_tile(shape, target)[0]:
        return "a work-item for each tile does as well"
    return None


def _default(space: Space[_Facts]) -> Params:
    facts = space.facts
    if facts.best is None:
        return next(space.points())
    _, tile, parts = facts.best
    _, members, along = facts.group(tile, parts)
    return Params(
        {
            "columns": tile.columns,
            "blocks": tile.blocks,
            "parts": parts,
            "along": along,
            "members": members,
            **default_loops(facts.shape, tile, facts.target),
        }
    )


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    """Work-items of a tile along x, tiles of a group along y."""
    shape = TexelShape.of(kernel)
    assert shape is not None, "the rule fits"
    fold, write, last = _share(schedule, shape, params.number("parts"))
    nest = arrange(schedule, kernel.main, shape, params)
    add_up(schedule, shape, schedule.compute_at(last, nest.item))
    schedule.keep_private(last)
    tiles, part = order_tiles(schedule, shape, schedule.compute_at(write, nest.place), params)
    inner = schedule.compute_at(fold, part)
    rank = len(shape.extents)
    *window, channels, lanes_of_channels = inner[rank + 1 :]
    reduction = Reduction(inner[: rank + 1], [channels, *window], [lanes_of_channels])
    reduction.tile(schedule, shape, params)
    schedule.vectorize(nest.lanes)
    put_local(schedule, write, shape)
    bind_axes(schedule, nest.grid, _GROUPS)
    for loop in (tiles, nest.tile):
        schedule.bind(loop, tir.LoopKind.LocalY)
    for loop in (part, nest.item):
        schedule.bind(loop, tir.LoopKind.LocalX)
    join_grid_of_texels(schedule, kernel.borders, kernel.main)


def _share(
    schedule: Schedule, shape: TexelShape, parts: int
) -> tuple[tir.BlockOp, tir.BlockOp, tir.BlockOp]:
    """The blocks that sum a part in registers, put it into local memory, and add up the parts.

    Neighbouring work-items take neighbouring texels of channels.
    """
    stage, lane = shape.stage, shape.stage.reduce_lane
    assert lane is not None, "the rule fits"
    reduce = [stage.loops[i] for i in stage.reduce]
    channels = split_channels(schedule, stage, reduce)
    schedule.reorder(*reduce, *channels)
    _, part = schedule.split(reduce[stage.reduce.index(lane)], parts, ("step", "part"))
    fold, last = schedule.rfactor_tree(part, parts, 0)
    return fold, schedule.cache_write(fold, tir.Scope.Private), last


def _cost_at(space: Space[_Facts], params: Params) -> float:
    return space.facts.cost(tile_of(params), params.number("parts"))


TEXEL_PARTS = Rule(
    "texel-parts",
    1,
    Kernels(device="gpu", texels=True, reductions=True),
    _fit,
    _default,
    _apply,
    _cost_at,
    _objection,
)
"""Which variables are texels and columns follows from the layout, as in `texel-tile`."""
