"""The cost of a 3x3 convolution, direct and by Winograd's transforms, counted in products."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, prod

from ...dialects import nn
from ...dialects.nn import shape_of
from ...dialects.nn.winograd import KERNEL, tile_counts


@dataclass(frozen=True)
class ElementCounts:
    """The elements of the operands and results of a convolution's kernels."""

    operand: int
    result: int
    weights: int
    products: int

    @staticmethod
    def direct(op: nn.ConvOp) -> ElementCounts:
        """Of the direct form."""
        outputs, inputs = shape_of(op.w)[:2]
        n, _, h, w = shape_of(op.result)
        weights = outputs * inputs * KERNEL**2
        return ElementCounts(
            prod(shape_of(op.x)), n * outputs * h * w, weights, n * h * w * weights
        )

    @staticmethod
    def between(op: nn.ConvOp, tile: int) -> ElementCounts:
        """Of the products between the transforms."""
        outputs, inputs = shape_of(op.w)[:2]
        n, _, *sizes = shape_of(op.result)
        tiles, elements = n * prod(tile_counts(sizes, tile)), (tile + KERNEL - 1) ** 2
        weights, of_one = elements * outputs * inputs, elements * tiles
        return ElementCounts(of_one * inputs, of_one * outputs, weights, tiles * weights)

    @property
    def moved(self) -> int:
        """The elements that a kernel reads and writes, each once."""
        return self.operand + self.result + self.weights


@dataclass(frozen=True)
class Costs:
    """The overheads of a convolution, in units of one product."""

    transform: float = 0.0
    """Each element that a transform reads or writes."""
    weight: float = 0.0
    """Each weight."""
    launches: float = 0.0
    """What the target's `winograd_microseconds` are."""
    overlaps: bool = False
    """Whether weights come from memory while others are multiplied."""

    def gain(self, op: nn.ConvOp, tile: int) -> float:
        """Return what the transforms save, without the launches."""
        between = ElementCounts.between(op, tile)
        transforms = self.transform * (between.operand + between.result)
        return self._total(ElementCounts.direct(op)) - self._total(between) - transforms

    def _total(self, sizes: ElementCounts) -> float:
        """Return the products and reading their weights once."""
        read = self.weight * sizes.weights
        return max(sizes.products, read) if self.overlaps else sizes.products + read


@dataclass(frozen=True)
class TexelCosts(Costs):
    """Costs where the transforms are kernels of texels; each keeps arithmetic or memory busy.

    Tiles are 2.25 to 4 times as large as the maps that they cover, and their weights 1.8 to 4 times
    as large as filters: where channels or positions are few, memory takes longer than the products
    that are saved.
    """

    byte: float = 0.0
    """Each byte that a kernel moves between memory and the device."""

    def gain(self, op: nn.ConvOp, tile: int) -> float:
        if op.accumulate is not None:
            # What transforms add to the error of sums in half is not known.
            return -inf
        direct, between = ElementCounts.direct(op), ElementCounts.between(op, tile)
        byte = self.byte * nn.numpy_dtype(nn.tensor_type(op.x).element_type).itemsize
        before = self.transform * between.operand, direct.operand + between.operand
        after = self.transform * between.result, direct.result + between.result
        kernels = (before, (between.products, between.moved), after)
        return max(direct.products, byte * direct.moved) - sum(
            max(arithmetic, byte * moved) for arithmetic, moved in kernels
        )
