"""Resize with antialias: along each dimension a product with a matrix of weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from ....dialects.nn.types import Array, shape_of
from ..builder import Builder, dtype_of_value


class Filter(NamedTuple):
    """An interpolation kernel that widens when it shrinks the image (ONNX Resize, antialias)."""

    mode: str
    coordinates: str
    cubic_a: float
    exclude_outside: bool

    def weights(self, length: int, size: int, scale: float) -> Array:
        """[size, length]: what each input element contributes to each output element."""
        matrix = np.zeros((size, length))
        shrink = min(scale, 1.0)
        radius = 1 if self.mode == "linear" else 2
        first = math.floor(-radius / shrink) + 1
        for row in range(size):
            at = SOURCES[self.coordinates](row, length, size, scale)
            # An element exactly at the position counts as the left one of its two neighbours.
            base = math.ceil(at) - 1
            places = np.arange(base + first, base + 2 - first)
            taps = np.array([self.tap(abs(shrink * (place - at))) for place in places])
            taps /= taps.sum()
            if self.exclude_outside:
                taps[(places < 0) | (places >= length)] = 0
                taps /= taps.sum()
            np.add.at(matrix[row], np.clip(places, 0, length - 1), taps)
        return matrix

    def tap(self, distance: float) -> float:
        """The unscaled weight of an element at a distance."""
        if self.mode == "linear":
            return max(0.0, 1 - distance)
        a = self.cubic_a
        if distance <= 1:
            return (a + 2) * distance**3 - (a + 3) * distance**2 + 1
        if distance < 2:
            return a * distance**3 - 5 * a * distance**2 + 8 * a * distance - 4 * a
        return 0.0


def _half_pixel(row: int, length: int, size: int, scale: float) -> float:
    return (row + 0.5) / scale - 0.5


def _symmetric(row: int, length: int, size: int, scale: float) -> float:
    return length / 2 * (1 - size / (scale * length)) + _half_pixel(row, length, size, scale)


def _pytorch(row: int, length: int, size: int, scale: float) -> float:
    return -0.5 if scale * length == 1 else _half_pixel(row, length, size, scale)


def _align_corners(row: int, length: int, size: int, scale: float) -> float:
    return 0.0 if scale * length == 1 else row * (length - 1) / (scale * length - 1)


def _asymmetric(row: int, length: int, size: int, scale: float) -> float:
    return row / scale


SOURCES: dict[str, Callable[[int, int, int, float], float]] = {
    "align_corners": _align_corners,
    "asymmetric": _asymmetric,
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _symmetric,
    "pytorch_half_pixel": _pytorch,
}
"""By coordinate mode: the position in the input that an output element looks at."""


def resize_axis(
    builder: Builder, x: SSAValue, axis: int, size: int, scale: float, filter: Filter
) -> SSAValue:
    """Resample one dimension."""
    shape = shape_of(x)
    before, length, after = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    weights = filter.weights(length, size, scale).astype(dtype_of_value(x))
    product = builder.matmul(builder.constant(weights), builder.reshape(x, (before, length, after)))
    return builder.reshape(product, (*shape[:axis], size, *shape[axis + 1 :]))
