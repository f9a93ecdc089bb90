"""Tiles of texels whose sums the work-items of a group share, where there are few tiles.

A small map has too few tiles for a GPU, and smaller ones read each texel for fewer products. Here
each work-item of a tile adds up some of the channels, in registers as in `texel-tile`. The sums of
all meet in local memory; then each work-item adds up those of a few texels and writes these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

from .....dialects import cl, tir
from .....dialects.tir import TEXEL
from ...schedule import Schedule
from ...schedule.combine import can_combine
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.grid import bind_axes, join_grid_of_texels
from ..space import Choice, Domains, NotApplicable, Params, Range, Space, has_point, number
from ..stages import split_channels
from .shared_sums import add_up, arrange, order_tiles, put_local
from .texel_reduction import TEXEL_SLOTS, TexelReduction, TexelTile, candidates, cost_of
from .texel_tile import (
    BLOCKS,
    COLUMNS,
    ROLLED,
    WINDOW,
    TexelTileModel,
    TiledLoops,
    default_loops,
    loop_domains,
    tile_domains,
    tile_of,
)

_PARTS = (2, 4, 8, 16)
_PLACE = 30
"""Issue slots that a work-item takes to find the place of a texel that it writes."""
_BYTES = 4
"""Bytes of an element of a sum, at the most."""
_GROUPS = (tir.LoopKind.GroupX, tir.LoopKind.GroupY, tir.LoopKind.GroupZ)


PARTS = number("parts", "work-items of a tile")
ALONG = number("along", "the variable in which tiles of a group differ")
MEMBERS = number("members", "tiles of a group")


def _structure(kernel: NaiveKernel) -> TexelReduction | NotApplicable:
    shape = kernel.once(TexelReduction.of)
    if isinstance(shape, NotApplicable):
        return shape
    sums = shape.stage.block.iter_extents[shape.lane]
    whole = shape.has_whole_channels and sums == shape.extents[shape.lane]
    if not whole or not can_combine(shape.stage.block):
        return NotApplicable("its sums are not of texels of channels")
    return shape


def _channels(shape: TexelReduction) -> int:
    """Return the texels of channels that a sum runs over."""
    lane = shape.stage.reduce_lane
    return 1 if lane is None else shape.stage.block.iter_extents[lane] // TEXEL


def _parts(shape: TexelReduction, tile: TexelTile, target: cl.Target) -> tuple[int, ...]:
    """Return into how many equal parts the sums of a tile can go: each has texels to add up.

    Without equal shares of the texels there are only two parts: the bounds of more that overlap are
    not exact, and the tiles in local memory would be larger.
    """
    texels, channels = tile.columns * tile.blocks, _channels(shape)
    most = min(texels, target.device.max_work_group_size, channels // 2)
    return tuple(
        n
        for n in _PARTS
        if n <= most and channels % n == 0 and (texels % n == 0 or texels <= 2 * n)
    )


def _along(shape: TexelReduction) -> tuple[int, ...]:
    """Return the variables in which the tiles of a group can differ."""
    others = (i for i in range(len(shape.extents)) if i not in (shape.lane, shape.column))
    return (shape.lane, *(i for i in others if shape.extents[i] > 1))


def _tiles(shape: TexelReduction, tile: TexelTile, along: int) -> int:
    """Return how many tiles there are along a variable."""
    return shape.texels // tile.blocks if along == shape.lane else shape.extents[along]


def _members(
    shape: TexelReduction, tile: TexelTile, parts: int, along: int, target: cl.Target
) -> int:
    """Return how many tiles a group can have."""
    memory = target.device.local_memory_bytes // (
        parts * tile.columns * tile.blocks * TEXEL * _BYTES
    )
    most = min(target.device.max_work_group_size // parts, memory)
    return min(_tiles(shape, tile, along), most)


@dataclass(frozen=True)
class TexelPartsModel:
    """Estimates what tiles whose sums are shared cost on a GPU."""

    structure: TexelReduction
    target: cl.Target

    @cached_property
    def shape(self) -> TexelReduction:
        """The reduction as the device reads it."""
        return self.structure.on(self.target)

    @cached_property
    def best(self) -> tuple[float, TexelTile, int] | None:
        """The best tile by its cost, and its parts; None if no tile can be shared.

        Work-items that wait for each other leave room for another wave.
        """
        shape, target = self.shape, self.target
        found = [
            (self.cost(tile, parts), tile.columns, tile.blocks, parts)
            for tile in candidates(shape, target)
            for parts in _parts(shape, tile, target)
            if shape.registers(tile) <= target.machine.registers // 2
            if parts <= target.machine.shared_tiles
            and _members(shape, tile, parts, shape.lane, target)
        ]
        if not found:
            return None
        cost, columns, blocks, parts = min(found)
        return cost, TexelTile(columns, blocks), parts

    def group(self, tile: TexelTile, parts: int) -> tuple[float, int, int]:
        """Return the share of a group's lanes in use, its tiles and their variable."""
        shape, target = self.shape, self.target
        most = max(1, target.machine.preferred_work_group // parts)
        return max(
            (self._use(_tiles(shape, tile, along), members, parts), members, along)
            for along in _along(shape)
            for members in range(1, min(most, _members(shape, tile, parts, along, target)) + 1)
        )

    def _use(self, extent: int, members: int, parts: int) -> float:
        items, wave = members * parts, max(self.target.machine.preferred_work_group // 2, 1)
        covered = -(-extent // members) * members
        return round(extent / covered * items / (-(-items // wave) * wave), 3)

    def cost(self, tile: TexelTile, parts: int) -> float:
        """Return the cost of tiles of one work-item, plus that of adding up the parts."""
        shape, target = self.shape, self.target
        steps = prod(shape.stage.block.iter_extents[i] for i in shape.stage.reduce)
        joining = (parts * (2 + TEXEL_SLOTS / TEXEL) + _PLACE / TEXEL) / steps
        return (cost_of(shape, tile, target, parts) + joining) / self.group(tile, parts)[0]


def _domains(structure: TexelReduction, target: cl.Target) -> Domains | NotApplicable:
    shape = structure.on(target)

    def members(params: Params) -> Range:
        parts, along = params.number(PARTS.name), params.number(ALONG.name)
        return Range(1, _members(shape, tile_of(params), parts, along, target))

    found: Domains = {
        **tile_domains(shape),
        PARTS.name: lambda params: Choice(_parts(shape, tile_of(params), target)),
        ALONG.name: Choice(_along(shape)),
        MEMBERS.name: members,
        **loop_domains(shape),
    }
    return found if has_point(found) else NotApplicable("its sums are too short to be shared")


def _objection(space: Space[TexelReduction]) -> str | None:
    if space.target.machine.shared_tiles < _PARTS[0]:
        return "the device was not measured to gain by it"
    if space.structure.column is None:
        return "its tiles share no weights"
    best = space.model(TexelPartsModel).best
    if best is None:
        return "its sums are too short"
    if best[0] >= space.model(TexelTileModel).best[0]:
        return "a work-item for each tile does as well"
    return None


def _default(space: Space[TexelReduction]) -> Params:
    model = space.model(TexelPartsModel)
    if model.best is None:
        return next(space.points())
    _, tile, parts = model.best
    _, members, along = model.group(tile, parts)
    return Params(
        {
            COLUMNS.name: tile.columns,
            BLOCKS.name: tile.blocks,
            PARTS.name: parts,
            ALONG.name: along,
            MEMBERS.name: members,
            **default_loops(model.shape, tile, space.target),
        }
    )


def _apply(schedule: Schedule, shape: TexelReduction, params: Params) -> None:
    """Bind the work-items of a tile to x, the tiles of a group to y."""
    kernel = shape.kernel
    fold, write, last = _share(schedule, shape, params.number(PARTS.name))
    nest = arrange(schedule, kernel.main, shape, params)
    add_up(schedule, shape, schedule.compute_at(last, nest.item))
    schedule.keep_private(last)
    tiles, part = order_tiles(schedule, shape, schedule.compute_at(write, nest.place), params)
    inner = schedule.compute_at(fold, part)
    rank = len(shape.extents)
    *window, channels, lanes_of_channels = inner[rank + 1 :]
    reduction = TiledLoops(inner[: rank + 1], [channels, *window], [lanes_of_channels])
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
    schedule: Schedule, shape: TexelReduction, parts: int
) -> tuple[tir.BlockOp, tir.BlockOp, tir.BlockOp]:
    """Return the blocks that sum a part in registers, put it into local memory, and add up parts.

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


TEXEL_PARTS = Rule(
    "texel-parts",
    1,
    Needs(device="gpu", texels=True, reductions=True),
    (COLUMNS, BLOCKS, PARTS, ALONG, MEMBERS, WINDOW, ROLLED),
    _structure,
    _domains,
    _default,
    _apply,
    _objection,
)
"""Which variables are texels and columns follows from the layout, as in `texel-tile`."""
