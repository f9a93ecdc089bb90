"""What strips of rows cost: the facts of a product with a value that the same kernel computes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from ....dialects import cl
from ..schedule.analysis import memref_of, written
from .channel_tiles import Problem, Shape, Tile
from .contraction import Load, contraction_of, element_bytes
from .cpu import bytes_per_cycle
from .grid import MOST_PRIVATE
from .naive_kernel import NaiveKernel
from .space import Misfit, Params
from .stages import Stage, lane_step
from .streams import Streams

N, CHANNEL, ROW, COLUMN = range(4)
_MOVES = 4
"""Cycles for each vector of a strip that is no sum: its loads, an operation or two, its store."""


@dataclass(frozen=True)
class StripsShape:
    """The stages of a kernel."""

    lead: Shape | None
    """The sums that the strip is made of, such as those of a depthwise convolution."""
    strip: Stage
    product: Shape

    @staticmethod
    def of(kernel: NaiveKernel) -> StripsShape | Misfit:
        reason = Misfit("it is no product with a value that it computes pixel by pixel")
        if len(kernel.outputs) != 1 or len(kernel.producers) not in (2, 3):
            return reason
        *sums, strip, products = kernel.producers
        contraction = contraction_of(kernel.func, [products], kernel.main)
        if strip.reduce or contraction is None:
            return reason
        (buffer,) = written(strip.block)
        if not _reads_pixels(products, strip, buffer):
            return reason
        product = Shape.of(contraction)
        if isinstance(product, Misfit):
            return product
        if (product.lane, product.column, product.term) != (CHANNEL, COLUMN, 4):
            return Misfit("its rows are not divided into blocks of channels at each column")
        lead = _lead(kernel, sums, strip, product.lanes)
        return lead if isinstance(lead, Misfit) else StripsShape(lead, strip, product)

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

    def _shared_by(self, load: Load) -> float:
        """The bytes of the rows where the windows of two rows of the strip overlap."""
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


def may_be_strips(first: NaiveKernel, second: NaiveKernel, value: SSAValue) -> bool:
    """Whether the kernel of two could have that shape: most pairs are none, and this takes less
    time than to make it. The `value` is the second one's parameter that the first computes.
    """
    if len(first.stages) + len(second.producers) not in (2, 3) or len(second.outputs) != 1:
        return False
    strip, products = first.stages[-1], second.producers
    return len(products) != 1 or _reads_pixels(products[0], strip, value)


def _reads_pixels(products: Stage, strip: Stage, buffer: SSAValue) -> bool:
    """Whether a product reads of the strip, a buffer to it, what lies at its own pixel."""
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
    kernel: NaiveKernel, sums: list[Stage], strip: Stage, lanes: int
) -> Shape | Misfit | None:
    """The tiles of the sums that a strip is made of; None where it is made of none."""
    if len(strip.block.stores()) != 1:
        return Misfit("a step of it computes more than one element of a strip")
    if not sums:
        steps = [lane_step(strip, op, CHANNEL, lanes) for op in strip.block.loads()]
        if any(step not in (0, 1) for step in steps):
            return Misfit("the channels of a block read elements that are no neighbours")
        return None
    contraction = contraction_of(kernel.func, sums, strip)
    if contraction is None:
        return Misfit("what it multiplies is not one reduction, read element by element")
    lead = Shape.of(contraction)
    if isinstance(lead, Misfit):
        return lead
    if (lead.lane, lead.column, lead.lanes) != (CHANNEL, COLUMN, lanes):
        return Misfit("the strip has not the blocks of channels of the product")
    if lead.term is not None:
        return Misfit("what it multiplies is a product of all channels, too")
    return lead


@dataclass(frozen=True)
class Strips:
    """The sizes of a work-item."""

    rows: int
    blocks: int
    tile_rows: int
    columns: int

    @staticmethod
    def of(params: Params) -> Strips:
        names = ("rows", "blocks", "tile_rows", "columns")
        return Strips(*(params.number(name) for name in names))


@dataclass(frozen=True)
class StripsProblem:
    """The choice of the strips."""

    shape: StripsShape
    target: cl.Target
    streams: Streams
    """The weights of the product."""

    @cached_property
    def product(self) -> Problem:
        """The choice of the products' tile."""
        return Problem(self.shape.product, self.target)

    @cached_property
    def lead(self) -> Problem | None:
        """The choice of the tile in which a strip is computed."""
        return None if self.shape.lead is None else Problem(self.shape.lead, self.target)

    @cached_property
    def lead_columns(self) -> int:
        """The columns of that tile with the least cycles for a row."""
        if self.lead is None:
            return 1
        problem, width = self.lead, self.shape.width
        return min(
            range(1, min(width, problem.most) + 1),
            key=lambda n: -(-width // n) * problem.cycles(Tile(1, n)),
        )

    @cached_property
    def _lead_cycles(self) -> float:
        """The cycles of one such tile."""
        assert self.lead is not None
        return self.lead.cycles(Tile(1, self.lead_columns))

    @cached_property
    def best(self) -> Strips:
        """The cheapest choice."""
        return min(self._candidates(), key=self.cost)

    def cost(self, choice: Strips) -> float:
        """Cycles until the last core is done."""
        shape, target = self.shape, self.target
        strips = shape.images * -(-shape.rows // choice.rows)
        # Cores that start together end so, too, if nothing disturbs them; else the last work-item
        # may start when all others run or are done.
        together = -(-strips // target.compute_units)
        disturbed = (strips + target.compute_units - 1) / target.compute_units
        turns = (together + disturbed) / 2
        return turns * (self._computed(choice.rows) + self._multiplied(choice))

    def _computed(self, rows: int) -> float:
        """Cycles to compute a strip."""
        blocks = self.shape.channels // self.shape.product.lanes
        if self.lead is None:
            return _MOVES * blocks * rows * self.shape.width
        tiles = -(-self.shape.width // self.lead_columns)
        sums = blocks * rows * tiles * self._lead_cycles
        # The strip before has read some of the rows, which are in the second cache at best.
        return sums + self.shape.shared_bytes / self.target.l2_bytes_per_cycle

    def _multiplied(self, choice: Strips) -> float:
        """Cycles to multiply a strip."""
        shape, target = self.shape, self.target
        groups = -(-shape.product.count // choice.blocks)
        tiles = -(-choice.rows // choice.tile_rows) * -(-shape.width // choice.columns)
        cycles = self._tile_cycles[choice.blocks, choice.tile_rows * choice.columns]
        strip = self.bytes(choice.rows)
        read = self.weights / bytes_per_cycle(self.target, self.weights + strip)
        if strip > target.l1_cache_bytes / 2:
            read += groups * strip / target.l2_bytes_per_cycle
        return max(groups * tiles * cycles, read)

    def most_rows(self, group: int = 1) -> int:
        """Rows of a strip that the second cache holds, and the stack those of a group."""
        most = min(self.target.l2_cache_bytes, MOST_PRIVATE // group)
        return min(self.shape.rows, most // self.bytes(1))

    def bytes(self, rows: int) -> int:
        """The bytes of so many rows of the value."""
        return 4 * rows * self.shape.width * self.shape.channels

    @cached_property
    def weights(self) -> int:
        """The bytes of the weights."""
        return 4 * self.shape.channels * self.shape.product.count * self.shape.product.lanes

    @cached_property
    def _tile_cycles(self) -> dict[tuple[int, int], float]:
        most = self.product.most
        return {
            (blocks, points): self.product.cycles(Tile(blocks, points))
            for blocks in range(1, self.product.most_blocks + 1)
            for points in range(1, most // blocks + 1)
        }

    def _candidates(self) -> Iterator[Strips]:
        shape, most = self.shape, self.product.most
        # As many rows as so many strips need.
        rows = {-(-shape.rows // strips) for strips in range(1, shape.rows + 1)}
        fitting = [n for n in rows if n <= max(1, self.most_rows() // 2)]
        for n in sorted(fitting):
            for blocks in range(1, self.product.most_blocks + 1):
                for tile_rows in range(1, min(n, most // blocks) + 1):
                    widest = min(shape.width, most // (blocks * tile_rows))
                    for columns in range(1, widest + 1):
                        yield Strips(n, blocks, tile_rows, columns)

    def apart(self) -> float:
        """Cycles of two launches, one after the other, with the value in a buffer."""
        shape, target = self.shape, self.target
        units = target.compute_units
        rows = shape.images * shape.rows
        lead = self._computed(rows) if self.lead is None else self.lead.cost(self.lead.best)
        products = self.product.cost(self.product.best)
        moved = self.bytes(rows) / units
        reads = self.weights / units / bytes_per_cycle(self.target, self.weights)
        clock = 1e3 * target.mads_per_nanosecond / (target.mads_per_cycle * target.vector_width)
        return (
            lead / units
            + max(products / units, reads)
            # Much of what a core reads, other cores have written.
            + moved / bytes_per_cycle(self.target, moved)
            + moved / target.memory_bytes_per_cycle
            + target.launch_microseconds * clock
        )
