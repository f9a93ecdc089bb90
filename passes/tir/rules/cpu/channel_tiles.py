"""Tiles of channel vectors: the part of a reduction to blocks that stays in registers.

Shared by the rules for values in blocks of channels on CPUs: the structure of such a reduction, a
model of its tiles, and their loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import ClassVar

from .....dialects import cl, tir
from .....dialects.tir import QUAD
from .....machine.core import (
    LOADS_PER_CYCLE,
    MEMORY_BYTES_PER_CYCLE,
    l2_bytes_per_cycle,
    mads_per_cycle,
)
from ...schedule import Schedule
from ..images import ImageRange
from ..shared.byte_products import ByteProducts
from ..shared.contraction import Contraction, OperandLoad, element_bytes
from ..space import NotApplicable, Range
from ..stages import blocked_variable, lane_step
from .beliefs import MOST_SUMS, TILE_CYCLES, accumulators, mad_cycles
from .streams import is_streamed, loads_read_lines, stream_bytes

_MOST_ACCUMULATORS = 28
"""Limit on the sums of a tile. With 28 sums, it loads fewer operands per multiply-add than with 16.
This matters if others share the core's caches: 1x1 convolutions take .8 to 1.0 of the time (Intel's
runtime and PoCL, one Xeon, AVX-512)."""
_FEW_ACCUMULATORS = 16
"""The same limit if no operand of the reduction lies in blocks. Compilers then hoist loads and
spill sums: a 7x7 stem takes 1.6 times as long with 28 (AVX-512)."""
_EXPOSED = 0.4
"""Fraction of hidden time that adds to a step: of the shorter of arithmetic and loads, and of L2.

Measured with 1x1 convolutions on Zen 3: tiles of 8 to 12 sums of two or three blocks are within 5 %
of the model, and those of one block take 10 to 15 % longer. Only for operands in blocks: the 7x7
stem with tiles of 4 x 4 takes 1.2 times as long as with 2 x 8 (AVX-512).
"""
_EXPOSED_LOADS, _EXPOSED_L2 = 0.05, 0.13
"""The fractions of loads and of L2's time that add to a step if a vector takes two passes.

Loads then have free slots. 1x1 convolutions of 512 channels with tiles of one to eight blocks are
within 5 % (Zen 4; with PoCL tiles of one to four blocks take the same time).
"""
_L1_SHARE, _L2_SHARE = 3 / 4, 3 / 8
"""Shares of the caches that an operand of a tile may take; other cores may share L2."""
_MOST_COPIES = 512
"""Most multiply-adds in the text of an unrolled window; more only slow compilers down."""
_MOST_DOTS = 256
"""The same for instructions that each add four products."""


@dataclass(frozen=True)
class ChannelTile:
    """What a work-item accumulates: vectors of `blocks` blocks at `columns` points of a row."""

    blocks: int
    columns: int


@dataclass(frozen=True)
class BlockedReduction:
    """A reduction to values that lie in blocks of channels."""

    contraction: Contraction
    lane: int
    """The variable whose values lie in blocks."""
    lanes: int
    """The size of these blocks."""
    term: int | None
    """The variable of the reduction along which an operand lies in blocks, or four bytes of both
    operands side by side."""
    products: ByteProducts | None = None
    """Its products of bytes if a step adds four of them."""

    @staticmethod
    def of(contraction: Contraction) -> BlockedReduction | NotApplicable:
        """Return the blocks that a contraction has."""
        output, stage = contraction.output, contraction.stage
        (store,) = output.block.stores()
        blocks = [blocked_variable(stage, load.op) for load in contraction.loads]
        found = blocked_variable(output, store)
        if found is None:
            found = next((b for b in blocks if _gives_vectors(contraction, b, blocks)), None)
        if found is None:
            return NotApplicable("neither its result nor its weights lie in blocks of channels")
        lane, lanes = found
        for load in contraction.loads:
            if lane_step(stage, load.op, lane, lanes) not in (0, 1):
                return NotApplicable("the channels of a block read elements that are not adjacent")
        whole = (i for i in stage.reduce if stage.block.iter_extents[i] % lanes == 0)
        term = next((i for i in whole if (i, lanes) in blocks), None)
        return BlockedReduction(contraction, lane, lanes, term)

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """The extents of the spatial variables."""
        return self.contraction.extents

    @cached_property
    def column(self) -> int | None:
        """The variable of the columns; None where the result has only channels."""
        others = [i for i, n in enumerate(self.extents) if i != self.lane and n > 1]
        return others[-1] if others else None

    @cached_property
    def width(self) -> int:
        """Columns of a row."""
        return 1 if self.column is None else self.extents[self.column]

    @cached_property
    def rows(self) -> int:
        """Rows of all images."""
        return prod(self.extents) // (self.extents[self.lane] * self.width)

    @cached_property
    def count(self) -> int:
        """Blocks of channels."""
        return -(-self.extents[self.lane] // self.lanes)

    @cached_property
    def window(self) -> list[int]:
        """The variables of the reduction beside the channels that take several values."""
        extents = self.contraction.stage.block.iter_extents
        return [i for i in self.contraction.stage.reduce if i != self.term and extents[i] > 1]

    def unrolled(self, window: int) -> list[int]:
        """Return the `window` innermost variables of the window."""
        return self.window[len(self.window) - window :]

    def has_room(self, tile: ChannelTile, window: int) -> bool:
        """Return whether the text may repeat the tile for each step of an unrolled window."""
        extents = self.contraction.stage.block.iter_extents
        copies = prod(extents[i] for i in self.unrolled(window)) * tile.blocks * tile.columns
        most = _MOST_COPIES if self.products is None else _MOST_DOTS
        return window == 0 or copies <= most

    def most_window(self, tile: ChannelTile) -> int:
        """Return the number of innermost loops of the window that may be unrolled."""
        return max(n for n in range(len(self.window) + 1) if self.has_room(tile, n))

    def most_blocks(self) -> Range:
        """Return the numbers of blocks that a tile may have."""
        return Range(1, min(MOST_SUMS, self.count))

    def most_columns(self, sums: int) -> Range:
        """Return the numbers of columns of a tile with so many sums at each column."""
        return Range(1, min(self.width, MOST_SUMS // sums))


_Block = tuple[int, int]
"""A variable whose values lie in blocks, and the size of these."""


def _gives_vectors(
    contraction: Contraction, block: _Block | None, blocks: Sequence[_Block | None]
) -> bool:
    """Return whether an operand's blocks are vectors of a result that has none.

    So are whole blocks of weights that are blocked along both axes, and those in which all operands
    of a depthwise convolution or a pool lie. The latter leave results with adjacent channels, such
    as means, to tiles of any variables.
    """
    stage, output = contraction.stage, contraction.output
    if (
        block is None
        or block[0] not in stage.spatial
        or stage.block.iter_extents[block[0]] % block[1]
    ):
        return False
    if block[1] in {b[1] for b in blocks if b is not None and b[0] in stage.reduce}:
        return True
    (store,) = output.block.stores()
    return all(b == block for b in blocks) and lane_step(output, store, *block) != 1


@dataclass(frozen=True)
class ChannelTileModel:
    """Estimates what the tiles of a reduction to blocks cost on a CPU."""

    shape: BlockedReduction
    target: cl.Target
    most_sums: ClassVar[int] = _MOST_ACCUMULATORS

    @cached_property
    def most(self) -> int:
        """Accumulators that fit in registers, as the model believes.

        If each accumulator has operands of its own, as in a depthwise convolution, compilers also
        keep those that the next step of the window reads. With 16 registers, 12 accumulators take
        1.2 to 1.6 times as long as 7 or 8 (measured on Zen with Intel's runtime and PoCL).
        """
        registers = self.target.machine.vector_registers
        share = 2 if self._has_own_operands else 1
        most = _FEW_ACCUMULATORS if self.shape.term is None else self.most_sums
        return min(accumulators(self.target, 1, most), registers // share)

    @cached_property
    def _has_own_operands(self) -> bool:
        """Return whether each channel has operands of its own; those of a group share elements."""
        return all(width > 1 for _, width in self._operands)

    @cached_property
    def _operands(self) -> list[tuple[OperandLoad, int]]:
        """The operands, and how many elements each has for the channels of a block: one or all."""
        shape, stage = self.shape, self.shape.contraction.stage
        loads = shape.contraction.loads
        steps = (lane_step(stage, load.op, shape.lane, shape.lanes) for load in loads)
        return [(load, shape.lanes if step == 1 else 1) for load, step in zip(loads, steps)]

    @cached_property
    def best(self) -> ChannelTile:
        """The cheapest tile."""
        return min(self._candidates(), key=self.cost)

    def cycles(self, tile: ChannelTile) -> float:
        """Return the cycles of one tile."""
        shape, target = self.shape, self.target
        sums, depth = tile.blocks * tile.columns, shape.contraction.depth
        loads, near = self._accesses(tile)
        shared = tile.blocks if tile.columns > 1 and not self._has_own_operands else 1
        if shape.term is not None:
            # Compilers reload a shared operand that has no register for each sum.
            without = max(0, sums + shared + 1 - target.machine.vector_registers)
            loads += min(without, shared) * (tile.columns - 1)
        arithmetic, accesses = sums / mads_per_cycle(target.machine), loads / LOADS_PER_CYCLE
        exposed = 0.0
        if target.machine.vector_passes > 1:
            exposed = _EXPOSED_LOADS * accesses + _EXPOSED_L2 * near
        elif shape.term is not None:
            exposed = _EXPOSED * (min(arithmetic, accesses) + (near if self._waits_for_l2 else 0))
        step = max(max(arithmetic, accesses) + exposed, near, mad_cycles(target, sums, shared))
        return depth * step + sums + TILE_CYCLES

    def _accesses(self, tile: ChannelTile) -> tuple[int, float]:
        """Return the slots for loads in a step, and the cycles of L2 for what L1 lacks."""
        shape, machine = self.shape, self.target.machine
        depth = shape.contraction.depth
        loads, cycles = 0, 0.0
        for load, width in self._operands:
            of_column = shape.column is not None and load.steps[shape.column] != 0
            of_block = load.steps[shape.lane] != 0
            each = (tile.blocks if of_block else 1) * (tile.columns if of_column else 1)
            loads += each * (machine.vector_passes if width > 1 else 1)
            # Over the reduction, an operand may exceed what L1 or L2 keeps until the next tile.
            size = each * element_bytes(load) * width
            if size * depth > _L2_SHARE * machine.l2_cache_bytes:
                cycles += size / MEMORY_BYTES_PER_CYCLE
            elif size * depth > _L1_SHARE * machine.l1_cache_bytes:
                cycles += size / l2_bytes_per_cycle(machine)
        return loads, cycles

    @cached_property
    def _waits_for_l2(self) -> bool:
        """Return whether loads wait for L2: each reads a line, and none was fetched ahead."""
        block = self.shape.contraction.stage.block
        size = stream_bytes(self.shape.contraction.func, block)
        return loads_read_lines(self.target) and not is_streamed(size, self.target)

    def cost(self, tile: ChannelTile) -> float:
        """Return the cycles of all tiles."""
        shape = self.shape
        tiles = -(-shape.count // tile.blocks) * -(-shape.width // tile.columns)
        images = 1.0 if self.images is None else self.images.cost(shape.width, tile.columns)
        return shape.rows * tiles * self.cycles(tile) * images

    @cached_property
    def images(self) -> ImageRange | None:
        """The images that the program computes, if there may be fewer."""
        return ImageRange.of_kernel(self.shape.contraction.func)

    def _candidates(self) -> Iterator[ChannelTile]:
        for blocks in range(1, min(self.most, self.shape.count) + 1):
            for columns in range(1, min(self.shape.width, self.most // blocks) + 1):
                yield ChannelTile(blocks, columns)


def reduce_in_tiles(
    schedule: Schedule,
    shape: BlockedReduction,
    loops: Sequence[tir.ForOp],
    window: int,
    row: int | None = None,
) -> None:
    """Keep the tile in registers; the channels of a block are the innermost loop around it.

    Four products of bytes are the innermost loop of all, for `tir-form-dots` to find. `loops` run
    over the variables. The `window` innermost loops of the window are unrolled, and `row` is the
    variable of a tile's rows, if it has several.
    """
    count = len(shape.extents)
    spatial, reduce = dict(enumerate(loops[:count])), dict(enumerate(loops[count:], count))
    blocks, lanes = schedule.split(spatial.pop(shape.lane), shape.lanes)
    tile = [blocks]
    if shape.column is not None:
        tile.insert(0, spatial.pop(shape.column))
    if row is not None:
        tile.insert(0, spatial.pop(row))
    unrolled = [reduce.pop(i) for i in shape.unrolled(window)]
    channels: list[tir.ForOp] = []
    quads: list[tir.ForOp] = []
    if shape.term is not None:
        if shape.products is None:
            reduce[shape.term], inner = schedule.split(reduce[shape.term], shape.lanes)
            channels = [inner]
        else:
            # The outermost one, as in the layout of the packed constant.
            terms, inner = schedule.split(reduce.pop(shape.term), QUAD)
            reduce, quads = {shape.term: terms, **reduce}, [inner]
    outside = (*spatial.values(), *reduce.values())
    schedule.reorder(*outside, *unrolled, *channels, *tile, lanes, *quads)
    for loop in (*unrolled, *tile, *quads):
        schedule.unroll(loop)
    schedule.vectorize(lanes)
