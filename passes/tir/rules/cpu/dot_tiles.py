"""Byte products on a CPU with an instruction that adds four of them to a sum.

A work-item computes a few blocks of 16 channels (or columns of a matrix product) at a few points of
a row, with a vector of sums for each. A step of the reduction takes four terms, which are adjacent
in both operands: it broadcasts four bytes of one operand and multiplies them by 16 groups of four
bytes of the other, a packed constant. `tir-form-dots` then finds the instruction's operands.
"""

from __future__ import annotations

from typing import ClassVar

from .....dialects.tir import QUAD
from .....machine.core import LOADS_PER_CYCLE, MAD_CYCLES, mads_per_cycle
from ...schedule import Schedule
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.byte_products import ByteProducts
from ..space import NotApplicable, Params, Space
from .beliefs import TILE_CYCLES
from .channel_blocks import TILE_PARAMETERS, apply_tiles, tile_default, tile_domains
from .channel_tiles import BlockedReduction, ChannelTile, ChannelTileModel

LANES = 16
"""Sums of a vector."""


def _structure(kernel: NaiveKernel) -> BlockedReduction | NotApplicable:
    products = ByteProducts.of(kernel, LANES)
    if isinstance(products, NotApplicable):
        return products
    return BlockedReduction(products.contraction, products.lane, LANES, products.term, products)


class ByteTileModel(ChannelTileModel):
    """Estimates what tiles of products of bytes cost on a CPU."""

    most_sums: ClassVar[int] = 16

    def cycles(self, tile: ChannelTile) -> float:
        """Return the cycles of one tile, whose operands are small enough to be in a cache."""
        sums = tile.blocks * tile.columns
        step = max(
            sums / mads_per_cycle(self.target.machine),
            (tile.blocks + tile.columns) / LOADS_PER_CYCLE,
            MAD_CYCLES,
        )
        return self.shape.contraction.depth / QUAD * step + sums + TILE_CYCLES


def _default(space: Space[BlockedReduction]) -> Params:
    return Params(tile_default(space.model(ByteTileModel)))


def _apply(schedule: Schedule, shape: BlockedReduction, params: Params) -> None:
    assert shape.products is not None, "the structure has them"
    shape.products.pack(schedule, LANES)
    apply_tiles(schedule, shape, params)


DOT_TILES = Rule(
    "dot-tiles",
    2,
    Needs(device="cpu", texels=False, reductions=True, byte_products=True),
    TILE_PARAMETERS,
    _structure,
    tile_domains,
    _default,
    _apply,
)
"""Its tiles are those of `channel-blocks`."""
