"""Products of bytes where there are few results: the work-items of a group share each sum.

As `texel-parts` for floats: each work-item of a tile adds up some of the channels, four products at
a time, and their sums meet in local memory. Parts in global memory would need a second launch,
which costs more than most of these kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from .....dialects import cl, tir
from .....dialects.tir import QUAD, TEXEL
from ...schedule import Schedule
from ...schedule.combine import can_combine
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.grid import WAVE, join_grid_of_texels
from ..space import Domains, NotApplicable, Params, Space, has_point
from .dot_texels import ByteTexelModel, ByteTexels, byte_tile_domains, default_window
from .shared_sums import (
    ALONG,
    MEMBERS,
    PARTS,
    PartialSums,
    SharedTilesModel,
    along,
    share_tiles,
    sharing_domains,
)
from .tiles import BLOCKS, COLUMNS, WINDOW, TexelTile, TiledLoops

_PARTS = (2, 4, 8, 16, 32)
_JOIN = 8.0
"""Cost of a part of a word of sums (a store, a load and an addition), in multiply-adds."""
_START = 64.0
"""Cost of a tile (the barrier and the addresses of its results), in multiply-adds."""
_APART = 0.6
"""Worth of work-items that read different weights, relative to sharing them. On an H200 a group of
32 tiles of channels takes four times as long as one of rows."""
_FAR = 0.85
"""Worth of work-items that share weights and read different images, relative to different rows,
which take half as long (H200)."""


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


class BytePartsModel(SharedTilesModel[ByteTexels]):
    """Estimates what tiles of products of bytes whose sums are shared cost on a GPU."""

    @cached_property
    def texels(self) -> ByteTexelModel:
        """The model of tiles with one work-item."""
        return ByteTexelModel(self.shape, self.target)

    @property
    def wave(self) -> int:
        """Work-items that run in step."""
        return WAVE

    def candidates(self) -> Iterator[tuple[TexelTile, int]]:
        """Yield all tiles with all parts."""
        for tile in self.shape.tiles():
            for parts in _parts(self.shape, self.target):
                yield tile, parts

    def slots(self, tile: TexelTile, parts: int) -> float:
        """Return the cost of tiles of one work-item, plus that of adding up the parts."""
        texels, depth = tile.texels, self.shape.contraction.depth // QUAD
        adding = _JOIN * -(-texels // parts) * parts + _START
        return self.texels.cost(tile, parts) + parts / texels * adding / depth

    def worth(self, variable: int) -> float:
        """Return the worth of sharing weights, or the rows of an image."""
        if variable == self.shape.lane:
            return _APART
        return 1.0 if variable == along(self.shape)[-1] else _FAR


def _domains(shape: ByteTexels, target: cl.Target) -> Domains | NotApplicable:
    parts = _parts(shape, target)
    sharing = sharing_domains(shape, target, lambda tile: parts)
    found: Domains = {**byte_tile_domains(shape), **sharing}
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
    window = {WINDOW.name: default_window(space.structure, tile)}
    return Params({**model.values(tile, parts), **window})


def _apply(schedule: Schedule, shape: ByteTexels, params: Params) -> None:
    """Bind the tiles of a group to x, the parts of their sums to y."""
    contraction, rank = shape.contraction, len(shape.extents)
    shape.products.pack(schedule, TEXEL, terms_first=True)

    def reduce(loops: list[tir.ForOp]) -> None:
        *window, terms, quad = loops[rank + 1 :]
        nest = TiledLoops(loops[: rank + 1], [terms, *window], [], [quad])
        nest.tile(schedule, shape, params)

    sums, axes = _divide(schedule, shape, params), (tir.LoopKind.LocalX, tir.LoopKind.LocalY)
    share_tiles(schedule, shape, contraction.output, sums, params, reduce, axes)
    join_grid_of_texels(schedule, contraction.borders, contraction.output)


def _divide(schedule: Schedule, shape: ByteTexels, params: Params) -> PartialSums:
    """Divide the sums along words of terms."""
    stage = shape.contraction.stage
    at = stage.reduce.index(shape.products.term)
    reduce = [stage.loops[i] for i in stage.reduce]
    reduce[at], quad = schedule.split(reduce[at], QUAD)
    schedule.reorder(*reduce, quad)
    return PartialSums.of(schedule, reduce[at], params.number(PARTS.name))


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
"""The operands determine the variables of texels, columns and terms, as in `dot-texels`."""
