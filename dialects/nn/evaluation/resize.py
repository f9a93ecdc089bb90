"""ONNX Resize in numpy: a matrix of interpolation weights per dimension.

The coordinate and rounding rules follow the ONNX operator specification.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ... import nn
from .. import Array, CoordinateMode, NearestMode, ResizeMode, floats, ints


def _coordinates(
    mode: CoordinateMode, size: int, length: int, scale: float, roi: tuple[float, float]
) -> Array:
    """Return the input coordinate of each of `size` output positions."""
    i = np.arange(size, dtype=np.float64)
    start, end = roi
    match mode:
        case CoordinateMode.HALF_PIXEL:
            return (i + 0.5) / scale - 0.5
        case CoordinateMode.HALF_PIXEL_SYMMETRIC:
            centre = length / 2 * (1 - size / (scale * length))
            return centre + (i + 0.5) / scale - 0.5
        case CoordinateMode.PYTORCH_HALF_PIXEL:
            return (i + 0.5) / scale - 0.5 if size > 1 else i * 0
        case CoordinateMode.ALIGN_CORNERS:
            return i * (length - 1) / (size - 1) if size > 1 else i * 0
        case CoordinateMode.ASYMMETRIC:
            return i / scale
        case CoordinateMode.TF_HALF_PIXEL_FOR_NN:
            return (i + 0.5) / scale
        case CoordinateMode.TF_CROP_AND_RESIZE:
            if size == 1:
                return i + 0.5 * (start + end) * (length - 1)
            return start * (length - 1) + i * (end - start) * (length - 1) / (size - 1)


def _nearest(mode: NearestMode, at: Array) -> Array:
    match mode:
        case NearestMode.ROUND_PREFER_FLOOR:
            return np.ceil(at - 0.5)
        case NearestMode.ROUND_PREFER_CEIL:
            return np.floor(at + 0.5)
        case NearestMode.FLOOR:
            return np.floor(at)
        case NearestMode.CEIL:
            return np.ceil(at)


def nearest_positions(op: nn.ResizeOp, axis: int) -> list[int] | None:
    """Return the index that a nearest resize reads for each result element along an axis.

    Returns None if some index may lie outside x.
    """
    mode, length = op.coordinate_mode.data, nn.shape_of(op.x)[axis]
    if mode is CoordinateMode.TF_CROP_AND_RESIZE:
        return None
    size, scale = ints(op.sizes)[axis], floats(op.scales)[axis]
    at = _coordinates(mode, size, length, scale, (0.0, 1.0))
    return _within(_nearest(op.nearest_mode.data, at), length).tolist()


def _within(at: Array, length: int) -> Array:
    return np.clip(at, 0, length - 1).astype(np.int64)


def _cubic(t: float, a: float) -> list[float]:
    """Evaluate Keys' kernel at the distances 1 + t, t, 1 - t and 2 - t."""
    near = [((a + 2) * d - (a + 3)) * d * d + 1 for d in (t, 1 - t)]
    far = [((a * d - 5 * a) * d + 8 * a) * d - 4 * a for d in (1 + t, 2 - t)]
    return [far[0], *near, far[1]]


def _weights(op: nn.ResizeOp, at: Array, length: int) -> Array:
    """Return the matrix that interpolates one dimension at the coordinates `at`."""
    matrix = np.zeros((at.size, length))
    mode = op.mode.data
    if mode is ResizeMode.NEAREST:
        matrix[np.arange(at.size), _within(_nearest(op.nearest_mode.data, at), length)] = 1
        return matrix
    for row, x in zip(matrix, at.tolist(), strict=True):
        if mode is ResizeMode.LINEAR:
            x = min(max(x, 0), length - 1)
        base = math.floor(x)
        t = x - base
        taps = [1 - t, t] if mode is ResizeMode.LINEAR else _cubic(t, floats(op.cubic_coeff_a)[0])
        first = base if mode is ResizeMode.LINEAR else base - 1
        for index, weight in enumerate(taps, first):
            if op.exclude_outside is None or 0 <= index < length:
                row[min(max(index, 0), length - 1)] += weight
        if op.exclude_outside is not None:
            row /= row.sum()
    return matrix


def _resize(op: nn.ResizeOp, operands: Sequence[Array]) -> Array:
    (x,) = operands
    result: Array = x.astype(np.float64)
    outside = np.zeros((1,) * x.ndim, np.bool_)
    mode, rank = op.coordinate_mode.data, x.ndim
    roi = floats(op.roi) or (0.0,) * rank + (1.0,) * rank
    for axis, (size, scale) in enumerate(zip(ints(op.sizes), floats(op.scales), strict=True)):
        length = x.shape[axis]
        crops = mode is CoordinateMode.TF_CROP_AND_RESIZE
        if size == length and scale == 1 and not crops:
            continue
        at = _coordinates(mode, size, length, scale, (roi[axis], roi[axis + rank]))
        matrix = _weights(op, at, length)
        result = np.moveaxis(np.tensordot(matrix, result, (1, axis)), 0, axis)
        if crops:
            beyond = (at < 0) | (at > length - 1)
            outside = outside | beyond.reshape([-1 if i == axis else 1 for i in range(rank)])
    return np.where(outside, floats(op.extrapolation_value)[0], result)


EVALUATORS: dict[type[Operation], Callable[[Any, Sequence[Array]], Any]] = {nn.ResizeOp: _resize}
