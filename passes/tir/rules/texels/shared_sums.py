"""Tiles of texels whose sums the work-items of a group share: loops over groups, tiles and parts.

Shared by rules whose work-items add up parts of the sums of a tile in registers. The parts meet in
local memory. Then each work-item adds up the parts of a few texels and writes these texels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from xdsl.ir.affine import AffineExpr

from .....dialects import cl, tir
from .....dialects.tir import TEXEL
from ...schedule import Schedule
from ...schedule.analysis import written
from ..shared.grid import bind_axes
from ..space import Choice, Domains, Params, Range, Value, number
from ..stages import KernelStage
from .tiles import BLOCKS, COLUMNS, TexelSums, TexelTile, tile_of

PARTS = number("parts", "work-items of a tile")
ALONG = number("along", "the variable in which tiles of a group differ")
MEMBERS = number("members", "tiles of a group")

_BYTES = 4
"""Most bytes of an element of a sum."""
_GROUPS = (tir.LoopKind.GroupX, tir.LoopKind.GroupY, tir.LoopKind.GroupZ)

_Sums = TypeVar("_Sums", bound=TexelSums)


def along(shape: TexelSums) -> tuple[int, ...]:
    """Return the variables in which the tiles of a group can differ."""
    others = (i for i in range(len(shape.extents)) if i not in (shape.lane, shape.column))
    return (shape.lane, *(i for i in others if shape.extents[i] > 1))


def _tiles(shape: TexelSums, tile: TexelTile, variable: int) -> int:
    """Return how many tiles there are along a variable."""
    return shape.texels // tile.blocks if variable == shape.lane else shape.extents[variable]


def _most_members(
    shape: TexelSums, tile: TexelTile, parts: int, variable: int, target: cl.Target
) -> int:
    """Return how many tiles a group can have."""
    size = parts * tile.texels * TEXEL * _BYTES
    most = min(target.device.max_work_group_size // parts, target.device.local_memory_bytes // size)
    return min(_tiles(shape, tile, variable), most)


def sharing_domains(
    shape: TexelSums, target: cl.Target, parts: Callable[[TexelTile], tuple[int, ...]]
) -> Domains:
    """Return the domains of `PARTS`, `ALONG` and `MEMBERS`."""

    def members(params: Params) -> Range:
        count, variable = params.number(PARTS.name), params.number(ALONG.name)
        return Range(1, _most_members(shape, tile_of(params), count, variable, target))

    return {
        PARTS.name: lambda params: Choice(parts(tile_of(params))),
        ALONG.name: Choice(along(shape)),
        MEMBERS.name: members,
    }


@dataclass(frozen=True)
class SharedTilesModel(ABC, Generic[_Sums]):
    """Estimates what tiles whose sums are shared cost on a GPU."""

    structure: _Sums
    target: cl.Target

    @cached_property
    def shape(self) -> _Sums:
        """The sums as the device reads them."""
        return self.structure

    @property
    @abstractmethod
    def wave(self) -> int:
        """Work-items that run in step."""

    @abstractmethod
    def candidates(self) -> Iterator[tuple[TexelTile, int]]:
        """Yield the tiles, with their parts, among which the device chooses."""

    @abstractmethod
    def slots(self, tile: TexelTile, parts: int) -> float:
        """Return the cost of tiles and of adding up their parts if no lane of a group is idle."""

    def worth(self, variable: int) -> float:
        """Return the worth of a group whose tiles differ in a variable, relative to the best."""
        return 1.0

    def group(self, tile: TexelTile, parts: int) -> tuple[float, int, int]:
        """Return what a group is worth, its tiles and their variable.

        That is the share of its lanes that computes something, times the worth of the variable.
        """
        shape, target = self.shape, self.target
        most = max(1, target.machine.preferred_work_group // parts)
        return max(
            (self._use(_tiles(shape, tile, variable), members, parts, variable), members, variable)
            for variable in along(shape)
            for members in range(
                1, min(most, _most_members(shape, tile, parts, variable, target)) + 1
            )
        )

    def _use(self, extent: int, members: int, parts: int, variable: int) -> float:
        items, wave = members * parts, self.wave
        covered = -(-extent // members) * members
        useful = self.worth(variable) * extent / covered
        return round(useful * items / (-(-items // wave) * wave), 3)

    def cost(self, tile: TexelTile, parts: int) -> float:
        """Return the cost of tiles, divided by the worth of their groups."""
        return self.slots(tile, parts) / self.group(tile, parts)[0]

    @cached_property
    def best(self) -> tuple[float, TexelTile, int] | None:
        """The best tile by its cost, and its parts; None if no tile can be shared."""
        shape, target = self.shape, self.target
        found = [
            (self.cost(tile, parts), tile.columns, tile.blocks, parts)
            for tile, parts in self.candidates()
            if _most_members(shape, tile, parts, shape.lane, target)
        ]
        if not found:
            return None
        cost, columns, blocks, parts = min(found)
        return cost, TexelTile(columns, blocks), parts

    def values(self, tile: TexelTile, parts: int) -> dict[str, Value]:
        """Return the values of `COLUMNS`, `BLOCKS`, `PARTS`, `ALONG` and `MEMBERS`."""
        _, members, variable = self.group(tile, parts)
        return {
            COLUMNS.name: tile.columns,
            BLOCKS.name: tile.blocks,
            PARTS.name: parts,
            ALONG.name: variable,
            MEMBERS.name: members,
        }


@dataclass(frozen=True)
class PartialSums:
    """The blocks of sums of which each work-item adds up a part."""

    fold: tir.BlockOp
    """Adds up a part in registers."""
    write: tir.BlockOp
    """Puts a part into local memory."""
    last: tir.BlockOp
    """Adds up the parts."""

    @staticmethod
    def of(schedule: Schedule, loop: tir.ForOp, parts: int) -> PartialSums:
        """Divide a loop of a sum so that neighbouring work-items take neighbouring steps."""
        _, part = schedule.split(loop, parts, ("step", "part"))
        fold, last = schedule.rfactor_tree(part, parts, 0)
        return PartialSums(fold, schedule.cache_write(fold, tir.Scope.Private), last)


def share_tiles(
    schedule: Schedule,
    shape: TexelSums,
    output: KernelStage,
    sums: PartialSums,
    params: Params,
    reduce: Callable[[list[tir.ForOp]], None],
    axes: Sequence[tir.LoopKind],
) -> None:
    """Let the work-items of each tile share its sums.

    `reduce` orders the loops of a part, and `axes` are those of a group's tiles and of parts.
    """
    nest = _arrange(schedule, output, shape, params)
    _add_up(schedule, shape, schedule.compute_at(sums.last, nest.item))
    schedule.keep_private(sums.last)
    tiles, part = _order_tiles(schedule, shape, schedule.compute_at(sums.write, nest.place), params)
    reduce(schedule.compute_at(sums.fold, part))
    schedule.vectorize(nest.lanes)
    _put_local(schedule, sums.write, shape)
    bind_axes(schedule, nest.grid, _GROUPS)
    of_tiles, of_parts = axes
    for loop in (tiles, nest.tile):
        schedule.bind(loop, of_tiles)
    for loop in (part, nest.item):
        schedule.bind(loop, of_parts)


@dataclass(frozen=True)
class SharedTiles:
    """The output's loops that have a meaning."""

    grid: list[tir.ForOp]
    place: tir.ForOp
    """The innermost one over groups."""
    tile: tir.ForOp
    """Over the tiles of a group."""
    item: tir.ForOp
    """Over the work-items of a tile."""
    lanes: tir.ForOp


def _arrange(
    schedule: Schedule, output: KernelStage, shape: TexelSums, params: Params
) -> SharedTiles:
    """Order the output's loops: groups, tiles, what a work-item writes of one, lanes."""
    tile, variable = tile_of(params), params.number(ALONG.name)
    loops, inside = list(output.loops), list[tir.ForOp]()
    loops[shape.lane], lanes = schedule.split(loops[shape.lane], TEXEL)
    if shape.column is not None:
        column = loops[shape.column]
        loops[shape.column], inner = schedule.split(column, tile.columns, overlap=True)
        inside.append(inner)
    # Inside, since their number is a power of two: a device divides by others in many steps.
    loops[shape.lane], texels = schedule.split(loops[shape.lane], tile.blocks)
    inside.append(texels)
    names = ("group", "tile")
    loops[variable], member = schedule.split(
        loops[variable], params.number(MEMBERS.name), names, overlap=True
    )
    single = [loop for loop in loops if loop.size == 1]
    grid = [loop for loop in loops if loop.size > 1] or [single.pop()]
    schedule.reorder(*single, *grid, member, *inside, lanes)
    flat = schedule.fuse(*inside, name="texel")
    # The last texels are written twice rather than guarded.
    items = min(params.number(PARTS.name), flat.size)
    _, item = schedule.split(flat, items, ("step", "part"), overlap=True)
    return SharedTiles(grid, grid[-1], member, item, lanes)


def _order_tiles(
    schedule: Schedule, shape: TexelSums, loops: list[tir.ForOp], params: Params
) -> tuple[tir.ForOp, tir.ForOp]:
    """Order the loops over the sums of a group; return those over its tiles and over parts."""
    *spatial, part = loops
    variable, lane = params.number(ALONG.name), shape.lane
    spatial[lane], texel = schedule.split(spatial[lane], TEXEL)
    tiles = spatial[variable]
    if variable == lane:
        tiles, spatial[lane] = schedule.split(tiles, params.number(BLOCKS.name))
    inside = [loop for loop in spatial if loop is not tiles]
    schedule.reorder(tiles, part, *inside, texel)
    for loop in inside:
        schedule.unroll(loop)
    schedule.vectorize(texel)
    return tiles, part


def _add_up(schedule: Schedule, shape: TexelSums, loops: list[tir.ForOp]) -> None:
    """Add up the parts of a texel."""
    *spatial, parts = loops
    texel = spatial.pop(shape.lane)
    schedule.reorder(*spatial, parts, texel)
    schedule.unroll(parts)
    schedule.vectorize(texel)


def _put_local(schedule: Schedule, write: tir.BlockOp, shape: TexelSums) -> None:
    """Keep the parts of a group's sums in local memory.

    The four elements of a texel lie side by side.
    """
    rank = len(shape.extents)
    order = [0, *(1 + i for i in range(rank) if i != shape.lane), 1 + shape.lane]
    for buffer in written(write):
        schedule.set_scope(buffer, tir.Scope.Local)
        schedule.transform_layout(buffer, [AffineExpr.dimension(i) for i in order])
