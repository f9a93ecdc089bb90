"""Products whose operand the same kernel computes: their structure, and a cost model of strips."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from .....dialects import cl
from .....machine.core import MEMORY_BYTES_PER_CYCLE, gigahertz, l2_bytes_per_cycle
from ...schedule.analysis import memref_of, written
from ..naive_kernel import NaiveKernel
from ..shared.contraction import OperandLoad, contraction_of, element_bytes
from ..shared.grid import MOST_PRIVATE
from ..space import NotApplicable, Params
from ..stages import KernelStage, lane_step
from .beliefs import bytes_per_cycle, near_bytes, turns
from .channel_tiles import BlockedReduction, ChannelTile, ChannelTileModel
from .streams import ahead, stream_bytes

N, CHANNEL, ROW, COLUMN = range(4)
_MOVES = 4
"""Cycles for each vector of a strip without sums: its loads, one or two operations, its store."""


@dataclass(frozen=True)
class FusedPixels:
    """A product with a value that the same kernel computes pixel by pixel."""

    lead: BlockedReduction | None
    """The sums that the strip is made of, such as those of a depthwise convolution."""
    strip: KernelStage
    product: BlockedReduction

    @staticmethod
    def of(kernel: NaiveKernel) -> FusedPixels | NotApplicable:
        """Return the product that a kernel is."""
        reason = NotApplicable("it is not a product with a value that it computes pixel by pixel")
        if len(kernel.outputs) != 1 or len(kernel.producers) not in (2, 3):
            return reason
        *sums, strip, products = kernel.producers
        contraction = contraction_of(kernel.func, [products], kernel.main)
        if strip.reduce or contraction is None:
            return reason
        (buffer,) = written(strip.block)
        if not _reads_pixels(products, strip, buffer):
            return reason
        product = BlockedReduction.of(contraction)
        if isinstance(product, NotApplicable):
            return product
        if (product.lane, product.column, product.term) != (CHANNEL, COLUMN, 4):
            return NotApplicable("its rows are not divided into blocks of channels at each column")
        lead = _lead(kernel, sums, strip, product.lanes)
        return lead if isinstance(lead, NotApplicable) else FusedPixels(lead, strip, product)

    @cached_property
    def rows(self) -> int:
        """The rows of the value."""
        return self.product.extents[ROW]

    @cached_property
    def width(self) -> int:
        """The columns of the value."""
        return self.product.width

    @cached_property
    def channels(self) -> int:
        """The channels of the value, with their tail."""
        return self.strip.block.iter_extents[CHANNEL]

    @cached_property
    def shared_bytes(self) -> float:
        """The bytes of the operand that a strip reads and the next one, too."""
        return 0.0 if self.lead is None else sum(map(self._shared_by, self.lead.contraction.loads))

    def _shared_by(self, load: OperandLoad) -> float:
        """Return the bytes of the rows where the windows of two rows of the strip overlap."""
        assert self.lead is not None
        shape, step = memref_of(load.op.memref).get_shape(), load.steps[ROW]
        if not step or len(shape) != 5:
            return 0.0
        stage, row = self.lead.contraction.stage, shape[-2] * shape[-1]
        reach = sum(
            (stage.block.iter_extents[i] - 1) * (load.steps[i] or 0)
            for i in stage.reduce
            if (load.steps[i] or 0) >= row
        )
        rows = max(0.0, (reach - step) / row + 1)
        return rows * shape[-2] * self.channels * element_bytes(load)

    @cached_property
    def images(self) -> int:
        """The images of the value."""
        return self.product.extents[N]

    def bytes(self, rows: int) -> int:
        """Return the bytes of some rows of the value."""
        return 4 * rows * self.width * self.channels

    @cached_property
    def weights(self) -> int:
        """The bytes of the weights."""
        return 4 * self.channels * self.product.count * self.product.lanes

    def most_rows(self, group: int) -> int:
        """Return how many rows a strip can have if the stack holds those of a group."""
        return min(self.rows, MOST_PRIVATE // group // self.bytes(1))

    def windows(self, columns: int) -> tuple[int, ...]:
        """Return how many loops of the window around a tile of the strip may be unrolled."""
        if self.lead is None:
            return (0,)
        counts, tile = range(len(self.lead.window) + 1), ChannelTile(1, columns)
        return tuple(n for n in counts if self.lead.has_room(tile, n))


def may_be_strips(first: NaiveKernel, second: NaiveKernel, value: SSAValue) -> bool:
    """Return whether the kernel made of two could be strips, without making it.

    The first kernel computes `value`, a parameter of the second. Most pairs can be ruled out here.
    """
    if len(first.stages) + len(second.producers) not in (2, 3) or len(second.outputs) != 1:
        return False
    strip, products = first.stages[-1], second.producers
    return len(products) != 1 or _reads_pixels(products[0], strip, value)


def _reads_pixels(products: KernelStage, strip: KernelStage, buffer: SSAValue) -> bool:
    """Return whether a product reads `buffer`, the strip, only at its own pixel."""
    if len(strip.block.iter_extents) != 4 or len(products.spatial) != 4:
        return False
    same = products.block.iter_extents
    if any(strip.block.iter_extents[i] != same[i] for i in (N, ROW, COLUMN)):
        return False
    found = [indices for op, indices in products.accesses.items() if op.memref is buffer]
    shape = memref_of(buffer).get_shape()
    return (
        bool(found)
        and len(shape) == 5
        and all(
            shape[i] == 1 or indices[i] == AffineDimExpr(i)
            for indices in found
            for i in (N, ROW, COLUMN)
        )
    )


def _lead(
    kernel: NaiveKernel, sums: list[KernelStage], strip: KernelStage, lanes: int
) -> BlockedReduction | NotApplicable | None:
    """Return the tiles of the sums that a strip is made of; None if it has no sums."""
    if len(strip.block.stores()) != 1:
        return NotApplicable("a step of it computes more than one element of a strip")
    if not sums:
        steps = [lane_step(strip, op, CHANNEL, lanes) for op in strip.block.loads()]
        if any(step not in (0, 1) for step in steps):
            return NotApplicable("the channels of a block read elements that are not adjacent")
        return None
    contraction = contraction_of(kernel.func, sums, strip)
    if contraction is None:
        return NotApplicable("what it multiplies is not one reduction, read element by element")
    lead = BlockedReduction.of(contraction)
    if isinstance(lead, NotApplicable):
        return lead
    if (lead.lane, lead.column, lead.lanes) != (CHANNEL, COLUMN, lanes):
        return NotApplicable("the strip and the product have different blocks of channels")
    if lead.term is not None:
        return NotApplicable("what it multiplies is a product of all channels, too")
    return lead


@dataclass(frozen=True)
class StripSizes:
    """The sizes of a work-item."""

    rows: int
    blocks: int
    tile_rows: int
    columns: int

    @staticmethod
    def of(params: Params) -> StripSizes:
        """Return the sizes of a point."""
        names = ("rows", "blocks", "tile_rows", "columns")
        return StripSizes(*(params.number(name) for name in names))


@dataclass(frozen=True)
class StripsModel:
    """Estimates what strips cost on a CPU."""

    shape: FusedPixels
    target: cl.Target

    @cached_property
    def product(self) -> ChannelTileModel:
        """The model of the products' tile."""
        return ChannelTileModel(self.shape.product, self.target)

    @cached_property
    def lead(self) -> ChannelTileModel | None:
        """The model of the tile in which a strip is computed."""
        return None if self.shape.lead is None else ChannelTileModel(self.shape.lead, self.target)

    @cached_property
    def lead_columns(self) -> int:
        """The columns of that tile with the least cycles for a row."""
        if self.lead is None:
            return 1
        model, width = self.lead, self.shape.width
        return min(
            range(1, min(width, model.most) + 1),
            key=lambda n: -(-width // n) * model.cycles(ChannelTile(1, n)),
        )

    @cached_property
    def _lead_cycles(self) -> float:
        """The cycles of one such tile."""
        assert self.lead is not None
        return self.lead.cycles(ChannelTile(1, self.lead_columns))

    @cached_property
    def best(self) -> StripSizes:
        """The cheapest choice."""
        return min(self._candidates(), key=self.cost)

    def cost(self, choice: StripSizes) -> float:
        """Return the cycles until the last core is done."""
        shape, target = self.shape, self.target
        strips = shape.images * -(-shape.rows // choice.rows)
        count = turns(strips, target.device.compute_units)
        return count * (self._computed(choice.rows) + self._multiplied(choice))

    def _computed(self, rows: int) -> float:
        """Return the cycles to compute a strip."""
        blocks = self.shape.channels // self.shape.product.lanes
        if self.lead is None:
            return _MOVES * blocks * rows * self.shape.width
        tiles = -(-self.shape.width // self.lead_columns)
        sums = blocks * rows * tiles * self._lead_cycles
        # The strip before this one has read some of the rows, so they may be in L2.
        return sums + self.shape.shared_bytes / l2_bytes_per_cycle(self.target.machine)

    def _multiplied(self, choice: StripSizes) -> float:
        """Return the cycles to multiply a strip."""
        shape, target = self.shape, self.target
        groups = -(-shape.product.count // choice.blocks)
        tiles = -(-choice.rows // choice.tile_rows) * -(-shape.width // choice.columns)
        cycles = self._tile_cycles[choice.blocks, choice.tile_rows * choice.columns]
        strip = self.shape.bytes(choice.rows)
        read = self.shape.weights / bytes_per_cycle(self.target, self.shape.weights + strip)
        if strip > target.machine.l1_cache_bytes / 2:
            read += groups * strip / l2_bytes_per_cycle(self.target.machine)
        return max(groups * tiles * cycles, read)

    @property
    def near_rows(self) -> int:
        """Rows of a strip that the second cache holds."""
        return min(self.shape.rows, near_bytes(self.target) // self.shape.bytes(1))

    @property
    def ahead(self) -> int:
        """The distance at which the best choice fetches weights."""
        product = self.shape.product.contraction
        size = stream_bytes(product.func, product.stage.block)
        return ahead(size, self.best.blocks, self.target)

    @cached_property
    def _tile_cycles(self) -> dict[tuple[int, int], float]:
        most, count = self.product.most, self.shape.product.count
        return {
            (blocks, points): self.product.cycles(ChannelTile(blocks, points))
            for blocks in range(1, min(most, count) + 1)
            for points in range(1, most // blocks + 1)
        }

    def _candidates(self) -> Iterator[StripSizes]:
        shape, most = self.shape, self.product.most
        # The rows per strip of so many strips.
        rows = {-(-shape.rows // strips) for strips in range(1, shape.rows + 1)}
        fitting = [n for n in rows if n <= max(1, self.near_rows // 2)]
        for n in sorted(fitting):
            for blocks in range(1, min(most, shape.product.count) + 1):
                for tile_rows in range(1, min(n, most // blocks) + 1):
                    widest = min(shape.width, most // (blocks * tile_rows))
                    for columns in range(1, widest + 1):
                        yield StripSizes(n, blocks, tile_rows, columns)

    def apart(self) -> float:
        """Return the cycles of two launches, one after the other, with the value in a buffer."""
        shape, target = self.shape, self.target
        units = target.device.compute_units
        rows = shape.images * shape.rows
        lead = self._computed(rows) if self.lead is None else self.lead.cost(self.lead.best)
        products = self.product.cost(self.product.best)
        moved = self.shape.bytes(rows) / units
        reads = self.shape.weights / units / bytes_per_cycle(self.target, self.shape.weights)
        clock = 1e3 * gigahertz(target.machine)
        return (
            lead / units
            + max(products / units, reads)
            # Other cores have written much of the data that a core reads.
            + moved / bytes_per_cycle(self.target, moved)
            + moved / MEMORY_BYTES_PER_CYCLE
            + target.machine.launch_microseconds * clock
        )
