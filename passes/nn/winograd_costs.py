"""Cost model of a 3x3 convolution, direct and by Winograd's transforms, in units of a product."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, prod

from ...dialects import nn
from ...dialects.nn import shape_of
from ...dialects.nn.winograd import KERNEL, tile_counts


@dataclass(frozen=True)
class ElementCounts:
    """The numbers of elements and products of a convolution's kernels."""

    operand: int
    result: int
    weights: int
    products: int

    @staticmethod
    def direct(op: nn.ConvOp) -> ElementCounts:
        """Return the counts of the direct form."""
        outputs, inputs = shape_of(op.w)[:2]
        n, _, h, w = shape_of(op.result)
        weights = outputs * inputs * KERNEL**2
        return ElementCounts(
            prod(shape_of(op.x)), n * outputs * h * w, weights, n * h * w * weights
        )

    @staticmethod
    def between(op: nn.ConvOp, tile: int) -> ElementCounts:
        """Return the counts of the products between the transforms."""
        outputs, inputs = shape_of(op.w)[:2]
        n, _, *sizes = shape_of(op.result)
        tiles, elements = n * prod(tile_counts(sizes, tile)), (tile + KERNEL - 1) ** 2
        weights, of_one = elements * outputs * inputs, elements * tiles
        return ElementCounts(of_one * inputs, of_one * outputs, weights, tiles * weights)

    @property
    def moved(self) -> int:
        """Return the elements that a kernel reads and writes, counting each once."""
        return self.operand + self.result + self.weights


@dataclass(frozen=True)
class Costs:
    """The overheads of a convolution, in units of one product."""

    transform: float = 0.0
    """Cost of each element that a transform reads or writes."""
    weight: float = 0.0
    """Cost of each weight."""
    launches: float = 0.0
    """Cost of the launches that the direct form does not need."""
    overlaps: bool = False
    """Whether loads of weights overlap with multiplications."""

    def gain(self, op: nn.ConvOp, tile: int) -> float:
        """Return the products that the transforms save, without the launches."""
        between = ElementCounts.between(op, tile)
        transforms = self.transform * (between.operand + between.result)
        return self._total(ElementCounts.direct(op)) - self._total(between) - transforms

    def _total(self, sizes: ElementCounts) -> float:
        """Return the cost of the products and of reading their weights once."""
        read = self.weight * sizes.weights
        return max(sizes.products, read) if self.overlaps else sizes.products + read


@dataclass(frozen=True)
class TexelCosts(Costs):
    """Costs if the transforms are kernels on texels; each is limited by arithmetic or by memory.

    Tiles are 2.25 to 4 times as large as the maps that they cover, and their weights 1.8 to 4 times
    as large as filters. With few channels or positions, memory thus takes longer than the saved
    products.
    """

    byte: float = 0.0
    """Cost of each byte that a kernel moves between memory and the device."""

    def gain(self, op: nn.ConvOp, tile: int) -> float:
        if op.accumulate is not None:
            # How much the transforms add to the error of sums in half is unknown.
            return -inf
        direct, between = ElementCounts.direct(op), ElementCounts.between(op, tile)
        byte = self.byte * nn.numpy_dtype(nn.tensor_type(op.x).element_type).itemsize
        before = self.transform * between.operand, direct.operand + between.operand
        after = self.transform * between.result, direct.result + between.result
        kernels = (before, (between.products, between.moved), after)
        return max(direct.products, byte * direct.moved) - sum(
            max(arithmetic, byte * moved) for arithmetic, moved in kernels
        )
