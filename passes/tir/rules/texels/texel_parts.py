"""Tiles of texels whose sums the work-items of a group share, where there are few tiles.

A small map has too few tiles to fill a GPU, and smaller tiles use each texel for fewer products.
Here each work-item of a tile adds up some of the channels, in registers as in `texel-tile`. The
partial sums meet in local memory; then each work-item adds up those of a few texels and writes the
results.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import prod

from .....dialects import cl, tir
from .....dialects.tir import TEXEL
from ...schedule import Schedule
from ...schedule.combine import can_combine
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.grid import join_grid_of_texels
from ..space import Domains, NotApplicable, Params, Space, has_point
from ..stages import split_channels
from .shared_sums import (
    ALONG,
    MEMBERS,
    PARTS,
    PartialSums,
    SharedTilesModel,
    share_tiles,
    sharing_domains,
)
from .texel_reduction import TEXEL_SLOTS, TexelReduction, candidates, cost_of
from .texel_tile import TexelTileModel, default_loops, loop_domains
from .tiles import BLOCKS, COLUMNS, ROLLED, WINDOW, TexelTile, TiledLoops, tile_domains

_PARTS = (2, 4, 8, 16)
_PLACE = 30
"""Issue slots per work-item for the address of a texel that it writes."""


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


class TexelPartsModel(SharedTilesModel[TexelReduction]):
    """Estimates what tiles whose sums are shared cost on a GPU."""

    @cached_property
    def shape(self) -> TexelReduction:
        """The reduction as the device reads it."""
        return self.structure.on(self.target)

    @property
    def wave(self) -> int:
        """Work-items that run in step: half of a group."""
        return max(self.target.machine.preferred_work_group // 2, 1)

    def candidates(self) -> Iterator[tuple[TexelTile, int]]:
        """Yield tiles that leave room for another wave, since work-items wait for each other."""
        shape, machine = self.shape, self.target.machine
        for tile in candidates(shape, self.target):
            if shape.registers(tile) <= machine.registers // 2:
                for parts in _parts(shape, tile, self.target):
                    if parts <= machine.shared_tiles:
                        yield tile, parts

    def slots(self, tile: TexelTile, parts: int) -> float:
        """Return the cost of tiles of one work-item, plus that of adding up the parts."""
        shape = self.shape
        steps = prod(shape.stage.block.iter_extents[i] for i in shape.stage.reduce)
        joining = (parts * (2 + TEXEL_SLOTS / TEXEL) + _PLACE / TEXEL) / steps
        return cost_of(shape, tile, self.target, parts) + joining


def _domains(structure: TexelReduction, target: cl.Target) -> Domains | NotApplicable:
    shape = structure.on(target)
    sharing = sharing_domains(shape, target, lambda tile: _parts(shape, tile, target))
    found: Domains = {**tile_domains(shape), **sharing, **loop_domains(shape)}
    return found if has_point(found) else NotApplicable("its sums are too short to be shared")


def _objection(space: Space[TexelReduction]) -> str | None:
    if space.target.machine.shared_tiles < _PARTS[0]:
        return "no measurement shows that the device gains from it"
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
    loops = default_loops(model.shape, tile, space.target)
    return Params({**model.values(tile, parts), **loops})


def _apply(schedule: Schedule, shape: TexelReduction, params: Params) -> None:
    """Bind the work-items of a tile to x, the tiles of a group to y."""
    kernel, rank = shape.kernel, len(shape.extents)

    def reduce(loops: list[tir.ForOp]) -> None:
        *window, channels, lanes = loops[rank + 1 :]
        TiledLoops(loops[: rank + 1], [channels, *window], [lanes]).tile(schedule, shape, params)

    sums, axes = _divide(schedule, shape, params), (tir.LoopKind.LocalY, tir.LoopKind.LocalX)
    share_tiles(schedule, shape, kernel.main, sums, params, reduce, axes)
    join_grid_of_texels(schedule, kernel.borders, kernel.main)


def _divide(schedule: Schedule, shape: TexelReduction, params: Params) -> PartialSums:
    """Divide the sums along texels of channels."""
    stage, lane = shape.stage, shape.stage.reduce_lane
    assert lane is not None, "the rule fits"
    reduce = [stage.loops[i] for i in stage.reduce]
    channels = split_channels(schedule, stage, reduce)
    schedule.reorder(*reduce, *channels)
    loop = reduce[stage.reduce.index(lane)]
    return PartialSums.of(schedule, loop, params.number(PARTS.name))


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
"""The layout determines the variables of texels and columns, as in `texel-tile`."""
