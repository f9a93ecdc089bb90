"""Resize with antialiasing: a product with a matrix of weights along each dimension."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from ....dialects.nn.types import Array, shape_of
from ...builder import Builder, dtype_of_value


class Filter(NamedTuple):
    """An interpolation kernel that widens when it shrinks the image (ONNX Resize, antialias)."""

    mode: str
    coordinates: str
    cubic_a: float
    exclude_outside: bool

    def weights(self, length: int, size: int, scale: float) -> Array:
        """Return the weights [size, length] of each input element in each output element."""
        rows = np.arange(size)[:, None]
        at = SOURCES[self.coordinates](rows, length, size, scale)
        shrink = min(scale, 1.0)
        first = math.floor(-self.radius / shrink) + 1
        # An element exactly at the position counts as the left of its two neighbours.
        places = np.ceil(at).astype(np.int64) - 1 + np.arange(first, 2 - first)
        taps = self.taps(abs(shrink * (places - at)))
        taps /= taps.sum(1, keepdims=True)
        if self.exclude_outside:
            taps[(places < 0) | (places >= length)] = 0
            taps /= taps.sum(1, keepdims=True)
        matrix = np.zeros((size, length))
        np.add.at(matrix, (rows, np.clip(places, 0, length - 1)), taps)
        return matrix

    @property
    def radius(self) -> int:
        """Return the reach of the kernel from its centre before it is widened."""
        return 1 if self.mode == "linear" else 2

    def taps(self, distance: Array) -> Array:
        """Return the unnormalised weights of elements at the given distances."""
        if self.mode == "linear":
            return np.maximum(0.0, 1 - distance)
        a = self.cubic_a
        near = (a + 2) * distance**3 - (a + 3) * distance**2 + 1
        far = a * distance**3 - 5 * a * distance**2 + 8 * a * distance - 4 * a
        return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


def _half_pixel(rows: Array, length: int, size: int, scale: float) -> Array:
    return (rows + 0.5) / scale - 0.5


def _symmetric(rows: Array, length: int, size: int, scale: float) -> Array:
    return length / 2 * (1 - size / (scale * length)) + _half_pixel(rows, length, size, scale)


def _pytorch(rows: Array, length: int, size: int, scale: float) -> Array:
    return rows * 0.0 - 0.5 if scale * length == 1 else _half_pixel(rows, length, size, scale)


def _align_corners(rows: Array, length: int, size: int, scale: float) -> Array:
    return rows * 0.0 if scale * length == 1 else rows * (length - 1) / (scale * length - 1)


def _asymmetric(rows: Array, length: int, size: int, scale: float) -> Array:
    return rows / scale


SOURCES: dict[str, Callable[[Array, int, int, float], Array]] = {
    "align_corners": _align_corners,
    "asymmetric": _asymmetric,
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _symmetric,
    "pytorch_half_pixel": _pytorch,
}
"""By coordinate mode: the position in the input that an output element samples."""


def resize_axis(
    builder: Builder, x: SSAValue, axis: int, size: int, scale: float, filter: Filter
) -> SSAValue:
    """Resample one dimension."""
    shape = shape_of(x)
    before, length, after = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    # Each row of the matrix sums this many taps; taps outside of x are clamped to the border.
    taps = 2 * math.ceil(filter.radius / min(scale, 1.0))
    builder.reserve(size, length + taps)
    weights = filter.weights(length, size, scale).astype(dtype_of_value(x))
    product = builder.matmul(builder.constant(weights), builder.reshape(x, (before, length, after)))
    return builder.reshape(product, (*shape[:axis], size, *shape[axis + 1 :]))
