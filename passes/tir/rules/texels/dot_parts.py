"""Products of bytes where there are few results: the work-items of a group share each sum.

As `texel-parts` for floats: each work-item of a tile adds up some of the channels, four products at
a time, and their sums meet in local memory. A second launch, as parts in global memory take, costs
more than most of these kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .....dialects import cl, tir
from .....dialects.tir import QUAD, TEXEL
from ...schedule import Schedule
from ...schedule.combine import can_combine
from ..cpu.channel_tiles import ChannelTile
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.grid import WAVE, bind_axes, join_grid_of_texels
from ..space import Choice, Domains, NotApplicable, Params, Range, Space, has_point, number
from .dot_texels import (
    BLOCKS,
    COLUMNS,
    WINDOW,
    ByteTexelModel,
    ByteTexels,
    order_reduction,
    tile_domains,
    tile_of,
)
from .shared_sums import add_up, arrange, order_tiles, put_local

_PARTS = (2, 4, 8, 16, 32)
_BYTES = 4
"""Bytes of a sum."""
_JOIN = 8.0
"""What a part of a word of sums costs, in multiply-adds: a store, a load and an addition."""
_START = 64.0
"""The same of a tile: the barrier, and the place of what a work-item writes."""
_APART = 0.6
"""Worth of work-items that read different weights, relative to sharing them. On an H200 a group of
32 tiles of channels takes four times as long as one of rows."""
_FAR = 0.85
"""Worth of work-items that share weights and read different images, relative to different rows,
which take half as long (H200)."""
_GROUPS = (tir.LoopKind.GroupX, tir.LoopKind.GroupY, tir.LoopKind.GroupZ)


PARTS = number("parts", "work-items of a tile")
ALONG = number("along", "the variable in which tiles of a group differ")
MEMBERS = number("members", "tiles of a group")


def _structure(kernel: NaiveKernel) -> ByteTexels | NotApplicable:
    shape = kernel.once(ByteTexels.of)
    if isinstance(shape, ByteTexels) and not can_combine(shape.contraction.stage.block):
        return NotApplicable("parts of its sums cannot be added")
    return shape


def _channels(shape: ByteTexels) -> int:
    """Return the words of terms that a sum runs over."""
    return shape.contraction.stage.block.iter_extents[shape.products.term] // QUAD


def _parts(shape: ByteTexels, target: cl.Target) -> tuple[int, ...]:
    """Return into how many equal parts the sums of a tile can go."""
    channels = _channels(shape)
    most = min(target.device.max_work_group_size, channels)
    return tuple(n for n in _PARTS if n <= most and channels % n == 0)


def _along(shape: ByteTexels) -> tuple[int, ...]:
    """Return the variables in which the tiles of a group can differ."""
    others = (i for i in range(len(shape.extents)) if i not in (shape.lane, shape.column))
    return (shape.lane, *(i for i in others if shape.extents[i] > 1))


def _tiles(shape: ByteTexels, tile: ChannelTile, along: int) -> int:
    """Return how many tiles there are along a variable."""
    return shape.texels // tile.blocks if along == shape.lane else shape.extents[along]


def _members(
    shape: ByteTexels, tile: ChannelTile, parts: int, along: int, target: cl.Target
) -> int:
    """Return how many tiles a group can have."""
    size = parts * tile.columns * tile.blocks * TEXEL * _BYTES
    most = min(target.device.max_work_group_size // parts, target.device.local_memory_bytes // size)
    return min(_tiles(shape, tile, along), most)


@dataclass(frozen=True)
class BytePartsModel:
    """Estimates what tiles whose sums are shared cost on a GPU."""

    shape: ByteTexels
    target: cl.Target

    @cached_property
    def texels(self) -> ByteTexelModel:
        """The model of tiles with one work-item."""
        return ByteTexelModel(self.shape, self.target)

    def group(self, tile: ChannelTile, parts: int) -> tuple[float, int, int]:
        """Return what a group is worth, its tiles and their variable.

        That is the share of its lanes that computes something, less where these share no weights.
        """
        shape, target = self.shape, self.target
        most = max(1, target.machine.preferred_work_group // parts)
        return max(
            (self._use(_tiles(shape, tile, along), members, parts, along), members, along)
            for along in _along(shape)
            for members in range(1, min(most, _members(shape, tile, parts, along, target)) + 1)
        )

    def _use(self, extent: int, members: int, parts: int, along: int) -> float:
        last = _along(self.shape)[-1]
        worth = _APART if along == self.shape.lane else 1.0 if along == last else _FAR
        items, wave = members * parts, WAVE
        covered = -(-extent // members) * members
        return round(worth * extent / covered * items / (-(-items // wave) * wave), 3)

    def cost(self, tile: ChannelTile, parts: int) -> float:
        """Return the cost of tiles of one work-item, plus that of adding up the parts."""
        texels, depth = tile.columns * tile.blocks, self.shape.contraction.depth // QUAD
        adding = _JOIN * -(-texels // parts) * parts + _START
        joining = parts / texels * adding / depth
        return (self.texels.cost(tile, parts) + joining) / self.group(tile, parts)[0]

    @cached_property
    def best(self) -> tuple[float, ChannelTile, int] | None:
        """The best tile by its cost, and its parts; None if no tile can be shared."""
        found = [
            (self.cost(tile, parts), tile.columns, tile.blocks, parts)
            for tile in self.shape.tiles()
            for parts in _parts(self.shape, self.target)
            if _members(self.shape, tile, parts, self.shape.lane, self.target)
        ]
        if not found:
            return None
        cost, columns, blocks, parts = min(found)
        return cost, ChannelTile(blocks, columns), parts


def _domains(shape: ByteTexels, target: cl.Target) -> Domains | NotApplicable:
    def members(params: Params) -> Range:
        parts, along = params.number(PARTS.name), params.number(ALONG.name)
        return Range(1, _members(shape, tile_of(params), parts, along, target))

    found: Domains = {
        **tile_domains(shape),
        PARTS.name: Choice(_parts(shape, target)),
        ALONG.name: Choice(_along(shape)),
        MEMBERS.name: members,
    }
    return found if has_point(found) else NotApplicable("its sums are too short to be shared")


def _objection(space: Space[ByteTexels]) -> str | None:
    model = space.model(BytePartsModel)
    if model.best is None:
        return "its sums are too short"
    if model.best[0] >= model.texels.cost(model.texels.best):
        return "a work-item for each tile does as well"
    return None


def _default(space: Space[ByteTexels]) -> Params:
    model = space.model(BytePartsModel)
    if model.best is None:
        return next(space.points())
    _, tile, parts = model.best
    _, members, along = model.group(tile, parts)
    return Params(
        {
            COLUMNS.name: tile.columns,
            BLOCKS.name: tile.blocks,
            WINDOW.name: max(space.structure.windows(tile)),
            PARTS.name: parts,
            ALONG.name: along,
            MEMBERS.name: members,
        }
    )


def _apply(schedule: Schedule, shape: ByteTexels, params: Params) -> None:
    """Bind the tiles of a group to x, the parts of their sums to y."""
    shape.products.pack(schedule, TEXEL, terms_first=True)
    fold, write, last = _share(schedule, shape, params.number(PARTS.name))
    nest = arrange(schedule, shape.contraction.output, shape, params)
    add_up(schedule, shape, schedule.compute_at(last, nest.item))
    schedule.keep_private(last)
    tiles, part = order_tiles(schedule, shape, schedule.compute_at(write, nest.place), params)
    inner, rank = schedule.compute_at(fold, part), len(shape.extents)
    *window, terms, quad = inner[rank + 1 :]
    order_reduction(schedule, shape, inner[: rank + 1], [terms, *window, quad], params)
    schedule.vectorize(nest.lanes)
    put_local(schedule, write, shape)
    bind_axes(schedule, nest.grid, _GROUPS)
    for loop in (tiles, nest.tile):
        schedule.bind(loop, tir.LoopKind.LocalX)
    for loop in (part, nest.item):
        schedule.bind(loop, tir.LoopKind.LocalY)
    join_grid_of_texels(schedule, shape.contraction.borders, shape.contraction.output)


def _share(
    schedule: Schedule, shape: ByteTexels, parts: int
) -> tuple[tir.BlockOp, tir.BlockOp, tir.BlockOp]:
    """Return blocks that sum a part in registers, put it into local memory, and add up parts."""
    stage, term = shape.contraction.stage, shape.products.term
    at = stage.reduce.index(term)
    reduce = [stage.loops[i] for i in stage.reduce]
    reduce[at], quad = schedule.split(reduce[at], QUAD)
    schedule.reorder(*reduce, quad)
    _, part = schedule.split(reduce[at], parts, ("step", "part"))
    fold, last = schedule.rfactor_tree(part, parts, 0)
    return fold, schedule.cache_write(fold, tir.Scope.Private), last


DOT_PARTS = Rule(
    "dot-parts",
    1,
    Needs(device="gpu", reductions=True, byte_products=True),
    (COLUMNS, BLOCKS, WINDOW, PARTS, ALONG, MEMBERS),
    _structure,
    _domains,
    _default,
    _apply,
    _objection,
)
"""Which variables are texels, columns and terms follows from the operands, as in `dot-texels`."""
