"""GridSample as a composition of gathers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import is_float, tensor_type
from ...builder import Builder
from ..node import Handler, NodeContext, Table

CUBIC_A = -0.75
"""The parameter that ONNX fixes for the cubic convolution kernel of GridSample."""


class Tap(NamedTuple):
    """One element per sample along one dimension: its index, and its weight (None is 1)."""

    place: SSAValue
    weight: SSAValue | None


class Sampler(NamedTuple):
    """Converts coordinates along one dimension to taps."""

    builder: Builder
    mode: str
    padding: str
    align_corners: bool

    def taps(self, grid: SSAValue, length: int) -> list[Tap]:
        """Return the taps of one dimension for coordinates in -1 .. 1."""
        b = self.builder
        if self.align_corners:
            position = b.binary("mul", b.binary("add", grid, 1), (length - 1) / 2)
        else:
            scaled = b.binary("mul", b.binary("add", grid, 1), length / 2)
            position = b.binary("sub", scaled, 0.5)
        return self.taps_at(position, length)

    def taps_at(self, position: SSAValue, length: int) -> list[Tap]:
        """Return the taps of one dimension for positions in units of its elements."""
        b = self.builder
        if self.mode == "nearest":
            return [self._tap(b.unary("round", position), None, length)]
        first = b.unary("floor", position)
        fraction = b.binary("sub", position, first)
        if self.mode == "linear":
            weights = {0: b.binary("sub", b.scalar(1, fraction), fraction), 1: fraction}
        else:
            weights = {i: self._cubic(fraction, i) for i in (-1, 0, 1, 2)}
        return [
            self._tap(b.binary("add", first, offset), weight, length)
            for offset, weight in weights.items()
        ]

    def _cubic(self, fraction: SSAValue, offset: int) -> SSAValue:
        """Evaluate Keys' cubic convolution kernel at the distance of the tap at `offset`."""
        b, a = self.builder, CUBIC_A
        distance = b.unary("abs", b.binary("sub", fraction, offset))
        if offset in (0, 1):
            coefficients = (a + 2, -(a + 3), 0, 1)
        else:
            coefficients = (a, -5 * a, 8 * a, -4 * a)
        result = b.scalar(coefficients[0], distance)
        for coefficient in coefficients[1:]:
            result = b.binary("add", b.binary("mul", result, distance), coefficient)
        return result

    def _tap(self, place: SSAValue, weight: SSAValue | None, length: int) -> Tap:
        """Clamp an integral position to the dimension; zero padding weighs outside taps 0."""
        b = self.builder
        if self.padding == "reflection":
            place = self._reflect(place, length)
        inside = b.add(nn.ClipOp(place, 0, length - 1))
        if self.padding == "zeros":
            hit = b.cast(b.compare("eq", inside, place), tensor_type(place).element_type)
            weight = hit if weight is None else b.binary("mul", weight, hit)
        return Tap(b.cast(inside, i32), weight)

    def _reflect(self, place: SSAValue, length: int) -> SSAValue:
        """Reflect at the centres (align_corners) or the outer edges of the border elements."""
        b, low = self.builder, 0.0 if self.align_corners else -0.5
        span = length - 1 if self.align_corners else length
        if span == 0:
            return b.binary("mul", place, 0)
        turned = b.binary("mod", b.binary("sub", place, low), 2 * span)
        back = b.binary("sub", b.scalar(2 * span, turned), turned)
        return b.binary("add", b.binary("min", turned, back), low)


def grid_sample(modes: dict[str, str]) -> Handler:
    """Return the importer of GridSample; opset 20 renamed the interpolation modes."""

    def handler(node: NodeContext) -> SSAValue:
        builder, x, grid = node.builder, node.input(0), node.input(1)
        spatial, element = node.shape()[2:], tensor_type(x).element_type
        if len(spatial) not in (2, 3) or node.rank(1) != node.rank() or not is_float(element):
            node.refuse("needs a float image of 2 or 3 dimensions and a grid of equal rank.")
        mode = modes[node.choice("mode", next(iter(modes)), tuple(modes))]
        padding = node.choice("padding_mode", "zeros", ("zeros", "border", "reflection"))
        sampler = Sampler(builder, mode, padding, node.flag("align_corners"))
        batch, *out, coordinates = node.shape(1)
        if coordinates != len(spatial) or batch != node.shape()[0]:
            node.refuse(f"its grid of shape {list(node.shape(1))} does not match the image.")
        samples = (batch, 1, math.prod(out))
        taps: list[list[Tap]] = []
        for i, length in enumerate(spatial):
            # The grid's last dimension is x, y (, z): the reverse of the image's.
            column = builder.slice(grid, len(out) + 1, coordinates - 1 - i, 1)
            place = builder.cast(builder.reshape(column, samples), element)
            taps.append(sampler.taps(place, length))
        return builder.reshape(weighted_sum(builder, x, spatial, taps), (*node.shape()[:2], *out))

    return handler


def weighted_sum(
    builder: Builder, x: SSAValue, spatial: Sequence[int], taps: Sequence[Sequence[Tap]]
) -> SSAValue:
    """Return the sum over all combinations of taps, [batch, channels, samples]."""
    batch, channels, *_ = tensor_type(x).get_shape()
    flat = builder.reshape(x, (batch, channels, math.prod(spatial)))
    total: SSAValue | None = None
    for combination in itertools.product(*taps):
        index, weight = combination[0]
        for tap, length in zip(combination[1:], spatial[1:], strict=True):
            index = builder.binary("add", builder.binary("mul", index, length), tap.place)
            if tap.weight is not None:
                weight = tap.weight if weight is None else builder.binary("mul", weight, tap.weight)
        _, _, samples = tensor_type(index).get_shape()
        everywhere = builder.expand(index, (batch, channels, samples))
        value = builder.add(nn.GatherElementsOp(flat, everywhere, 2))
        if weight is not None:
            value = builder.binary("mul", value, weight)
        total = value if total is None else builder.binary("add", total, value)
    assert total is not None
    return total


TABLE: Table = {
    "GridSample": {
        16: grid_sample({"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"}),
        20: grid_sample({"linear": "linear", "nearest": "nearest", "cubic": "cubic"}),
    }
}
