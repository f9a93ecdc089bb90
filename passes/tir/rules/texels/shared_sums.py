"""Tiles of texels whose sums the work-items of a group share: loops over groups, tiles and parts.

Shared by rules whose work-items add up parts of the sums of a tile in registers. The parts meet in
local memory. Then each work-item adds up the parts of a few texels and writes these texels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from xdsl.ir.affine import AffineExpr

from .....dialects import tir
from .....dialects.tir import TEXEL
from ...schedule import Schedule
from ...schedule.analysis import written
from ..space import Params
from ..stages import KernelStage


class TexelSums(Protocol):
    """The sums of a kernel, whose channels are the lanes of texels."""

    @property
    def extents(self) -> tuple[int, ...]: ...
    @property
    def lane(self) -> int: ...
    @property
    def column(self) -> int | None: ...


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


def arrange(
    schedule: Schedule, output: KernelStage, shape: TexelSums, params: Params
) -> SharedTiles:
    """Order the output's loops: groups, tiles, what a work-item writes of one, lanes."""
    columns, blocks = params.number("columns"), params.number("blocks")
    along = params.number("along")
    loops, inside = list(output.loops), list[tir.ForOp]()
    loops[shape.lane], lanes = schedule.split(loops[shape.lane], TEXEL)
    if shape.column is not None:
        column = loops[shape.column]
        loops[shape.column], inner = schedule.split(column, columns, overlap=True)
        inside.append(inner)
    # Inside, since their number is a power of two: a device divides by others in many steps.
    loops[shape.lane], texels = schedule.split(loops[shape.lane], blocks)
    inside.append(texels)
    names = ("group", "tile")
    loops[along], member = schedule.split(
        loops[along], params.number("members"), names, overlap=True
    )
    single = [loop for loop in loops if loop.size == 1]
    grid = [loop for loop in loops if loop.size > 1] or [single.pop()]
    schedule.reorder(*single, *grid, member, *inside, lanes)
    flat = schedule.fuse(*inside, name="texel")
    # The last texels are written twice rather than guarded.
    items = min(params.number("parts"), flat.size)
    _, item = schedule.split(flat, items, ("step", "part"), overlap=True)
    return SharedTiles(grid, grid[-1], member, item, lanes)


def order_tiles(
    schedule: Schedule, shape: TexelSums, loops: list[tir.ForOp], params: Params
) -> tuple[tir.ForOp, tir.ForOp]:
    """Order the loops over the sums of a group; return those over its tiles and over parts."""
    *spatial, part = loops
    along, lane = params.number("along"), shape.lane
    spatial[lane], texel = schedule.split(spatial[lane], TEXEL)
    tiles = spatial[along]
    if along == lane:
        tiles, spatial[lane] = schedule.split(tiles, params.number("blocks"))
    inside = [loop for loop in spatial if loop is not tiles]
    schedule.reorder(tiles, part, *inside, texel)
    for loop in inside:
        schedule.unroll(loop)
    schedule.vectorize(texel)
    return tiles, part


def add_up(schedule: Schedule, shape: TexelSums, loops: list[tir.ForOp]) -> None:
    """Add up the parts of a texel."""
    *spatial, parts = loops
    texel = spatial.pop(shape.lane)
    schedule.reorder(*spatial, parts, texel)
    schedule.unroll(parts)
    schedule.vectorize(texel)


def put_local(schedule: Schedule, write: tir.BlockOp, shape: TexelSums) -> None:
    """Keep the parts of a group's sums in local memory.

    The four elements of a texel lie side by side.
    """
    rank = len(shape.extents)
    order = [0, *(1 + i for i in range(rank) if i != shape.lane), 1 + shape.lane]
    for buffer in written(write):
        schedule.set_scope(buffer, tir.Scope.Local)
        schedule.transform_layout(buffer, [AffineExpr.dimension(i) for i in order])
