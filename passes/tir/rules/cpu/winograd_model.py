"""Winograd's convolutions of whole tiles: their stages, and a cost model of strips of tiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import isqrt, sqrt

from xdsl.ir.affine import AffineExpr

from .....dialects import cl
from .....machine.core import LOADS_PER_CYCLE, MAD_CYCLES, l2_bytes_per_cycle, mads_per_cycle
from ...schedule.analysis import accesses, memref_of, written
from ..images import ImageRange
from ..naive_kernel import NaiveKernel
from ..shared.grid import MOST_PRIVATE
from ..space import NotApplicable, Params
from ..stages import KernelStage
from .beliefs import ITEM_CYCLES, TILE_CYCLES, accumulators, bytes_per_cycle, divisors, turns
from .streams import ahead, stream_bytes

_MOST_ACCUMULATORS = 28
"""With more accumulators, compilers spill some. With 16, convolutions of 256 channels take 1.05 to
1.15 times as long (AVX-512)."""
_WIDTHS = (2, 4, 8, 16)
"""OpenCL vector sizes that a block of channels can have."""
_ADDITIONS = 8
"""Cycles of additions and moves for each vector of a tile that a transform reads or writes."""
_STRIPS = 2
"""A strip may be twice as large as L2, because one matrix of it is used at a time."""


@dataclass(frozen=True)
class WinogradStages:
    """The stages of a convolution by Winograd's transforms, and their extents."""

    kernel: NaiveKernel

    tiles: KernelStage
    products: KernelStage
    results: KernelStage
    output: KernelStage

    @staticmethod
    def of(kernel: NaiveKernel) -> WinogradStages | NotApplicable:
        """Return the stages that the lowering of such a convolution states."""
        stages = kernel.with_roles("winograd", ("tiles", "products", "results"))
        if stages is None:
            return NotApplicable("it is not a product between two transforms of tiles")
        tiles, products, results = stages
        shape = WinogradStages(kernel, tiles, products, results, kernel.main)
        if len(kernel.main.loops) != 4 or not shape._reads_tiles():
            return NotApplicable("its result is not read at the positions of its tiles")
        return shape if shape.widths else NotApplicable("no vector divides its channels")

    @cached_property
    def tile(self) -> int:
        """The m of F(m x m, 3 x 3)."""
        (results,) = written(self.results.block)
        return isqrt(memref_of(results).get_shape()[0])

    def _reads_tiles(self) -> bool:
        """Return whether the output reads the results at its own position."""
        n, o, h, w = (AffineExpr.dimension(i) for i in range(4))
        expected = (n, h // self.tile, w // self.tile, o)
        for buffer in written(self.results.block):
            shape = memref_of(buffer).get_shape()[1:]
            for _, (_, *index) in accesses(self.output.block, buffer):
                pairs = zip(index, expected, shape, strict=True)
                if any(size != 1 and found != wanted for found, wanted, size in pairs):
                    return False
        return True

    @cached_property
    def grid(self) -> tuple[int, int, int]:
        """Images, and rows and columns of their tiles."""
        n, rows, cols, _ = self.tiles.block.iter_extents
        return n, rows, cols

    @property
    def inputs(self) -> int:
        """Channels of the operand."""
        return self.tiles.block.iter_extents[3]

    @property
    def outputs(self) -> int:
        """Channels of the result."""
        return self.results.block.iter_extents[3]

    @property
    def elements(self) -> int:
        """Elements of a tile."""
        return self.products.block.iter_extents[0]

    @property
    def widths(self) -> tuple[int, ...]:
        """The vectors that divide the channels of both sides."""
        return tuple(w for w in _WIDTHS if self.inputs % w == 0 == self.outputs % w)

    def tile_bytes(self, tiles: int) -> int:
        """Return the memory of some transformed tiles of the operand."""
        return 4 * tiles * self.elements * self.inputs

    @property
    def item_bytes(self) -> int:
        """The memory of a tile and of its products with a block of channels."""
        return self.tile_bytes(1) + 4 * self.elements * max(self.widths)

    def most_tiles(self, group: int) -> int:
        """Return how many tiles a strip can have if the stack holds those of a group."""
        return max(1, MOST_PRIVATE // group // self.item_bytes)

    def rows(self, most_tiles: int) -> tuple[int, ...]:
        """Return the rows of tiles that a strip may have: divisors, so none is partial."""
        return tuple(n for n in divisors(self.grid[1]) if n <= most_tiles)

    def cols(self, rows: int, most_tiles: int) -> tuple[int, ...]:
        """Return the tiles of a row that a strip of some rows may have."""
        return tuple(n for n in divisors(self.grid[2]) if n * rows <= most_tiles)

    def blocks(self, lanes: int, tiles: int, most: int) -> tuple[int, ...]:
        """Return the blocks of channels of a tile if the strips of a group have some tiles."""
        room = (MOST_PRIVATE - self.tile_bytes(tiles)) // (4 * tiles * self.elements * lanes)
        found = divisors(self.outputs // lanes)
        return tuple(n for n in found if n <= min(most, max(1, room)))

    def parts(self, lanes: int, blocks: int) -> tuple[int, ...]:
        """Return the numbers of work-items that can share the channels of a strip."""
        return divisors(self.outputs // lanes // blocks)


@dataclass(frozen=True)
class WinogradSizes:
    """The sizes of a work-item."""

    lanes: int
    rows: int
    cols: int
    blocks: int
    parts: int
    tile_rows: int
    tile_cols: int

    @staticmethod
    def of(params: Params) -> WinogradSizes:
        """Return the sizes of a point."""
        names = ("lanes", "rows", "cols", "blocks", "parts", "tile_rows", "tile_cols")
        return WinogradSizes(*(params.number(name) for name in names))


@dataclass(frozen=True)
class WinogradModel:
    """Estimates what strips of tiles cost on a CPU."""

    shape: WinogradStages
    target: cl.Target

    @property
    def most(self) -> int:
        """Accumulators that fit in registers, as the model believes."""
        return accumulators(self.target, 1, _MOST_ACCUMULATORS)

    @property
    def most_tiles(self) -> int:
        """Tiles per strip whose data in use at one time fits L2."""
        near = _STRIPS * self.target.machine.l2_cache_bytes // self.shape.tile_bytes(1)
        return max(1, min(near, self.shape.most_tiles(1)))

    def ahead(self, blocks: int) -> int:
        """Return the distance at which weights are fetched."""
        return ahead(self._stream_bytes, blocks, self.target)

    @cached_property
    def _stream_bytes(self) -> int:
        return stream_bytes(self.shape.kernel.func, self.shape.products.block)

    @cached_property
    def best(self) -> WinogradSizes:
        """The cheapest choice; of equals that wait for memory, the one that computes least."""

        def costs(choice: WinogradSizes) -> tuple[float, float]:
            sums = choice.rows * choice.cols * choice.blocks
            return self.cost(choice), self._computed(choice) / sums

        return min(self._candidates(), key=costs)

    def cost(self, choice: WinogradSizes) -> float:
        """Return the cycles until the last core is done, a mean for idle and busy cores.

        If there may be fewer images, it is the geometric mean for the fewest and for all of them.
        """
        units = self.target.device.compute_units
        if self._images is None:
            return self._elapsed(choice, units)
        of_all = self._elapsed(choice, self._images.cores(self.target))
        return sqrt(self._elapsed(choice, units) * of_all)

    @cached_property
    def _images(self) -> ImageRange | None:
        """The images that the program computes, if there may be fewer."""
        return ImageRange.of_kernel(self.shape.kernel.func)

    def _elapsed(self, choice: WinogradSizes, units: int) -> float:
        shape = self.shape
        n, rows, cols = shape.grid
        strips = n * (rows // choice.rows) * (cols // choice.cols)
        items, tiles = strips * choice.parts, choice.rows * choice.cols
        vectors = tiles * (shape.inputs + shape.outputs / choice.parts) / choice.lanes
        transforms = shape.elements * vectors * _ADDITIONS
        groups = shape.outputs / choice.lanes / choice.blocks / choice.parts
        products = shape.elements * groups * self._products(choice)
        return turns(items, units) * (transforms + products + ITEM_CYCLES)

    def _computed(self, choice: WinogradSizes) -> float:
        """Return the cycles of the products of a strip with one matrix of weights in L2."""
        shape, target = self.shape, self.target
        points = choice.tile_rows * choice.tile_cols
        sums = points * choice.blocks
        tiles = -(-choice.rows // choice.tile_rows) * -(-choice.cols // choice.tile_cols)
        vectors = 4 * choice.blocks * choice.lanes
        # All tiles but the first read the weights again; the second cache is busy with new ones.
        is_near = tiles == 1 or vectors * shape.inputs <= target.machine.l1_cache_bytes / 2
        fetched = choice.blocks if self.ahead(choice.blocks) else 0
        step = max(
            sums / mads_per_cycle(target.machine),
            (points + choice.blocks + fetched) / LOADS_PER_CYCLE,
            0 if is_near else 2 * vectors / l2_bytes_per_cycle(target.machine),
            MAD_CYCLES,
        )
        return tiles * (shape.inputs * step + TILE_CYCLES)

    def _products(self, choice: WinogradSizes) -> float:
        """Return the cycles of these products with weights that come from further away."""
        shape, target = self.shape, self.target
        strip, weights = map(shape.tile_bytes, (choice.rows * choice.cols, shape.outputs))
        group = weights * choice.blocks * choice.lanes / shape.outputs
        # The weights come again for each strip, and the strip for each group of channels; both are
        # fetched while others are multiplied.
        read = group / bytes_per_cycle(target, weights + strip)
        read += strip / bytes_per_cycle(target, strip + group)
        return max(self._computed(choice), read / shape.elements)

    def _candidates(self) -> Iterator[WinogradSizes]:
        shape, most = self.shape, self.most_tiles
        lanes = max(w for w in shape.widths if w <= max(self.target.machine.vector_width, 2))
        sizes = ((rows, cols) for rows in shape.rows(most) for cols in shape.cols(rows, most))
        for rows, cols in sizes:
            for blocks in shape.blocks(lanes, rows * cols, self.most):
                heights = range(1, min(rows, self.most // blocks) + 1)
                for parts, tile_rows in product(shape.parts(lanes, blocks), heights):
                    widest = min(cols, self.most // (blocks * tile_rows))
                    for tile_cols in range(1, widest + 1):
                        yield WinogradSizes(lanes, rows, cols, blocks, parts, tile_rows, tile_cols)
