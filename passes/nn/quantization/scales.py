"""Scales, which may have to be powers of two, and conversion of constants to integers."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import AnyFloat, DictionaryAttr, FloatAttr, f64

from ....dialects import nn
from ....dialects.nn import Array

LARGEST = 127
"""Largest magnitude of a weight: int8 without -128, which has no negative."""

_ATTRIBUTE = "nn.ranges"
_LIMIT = 100
"""Bound on the exponents of ranges, so that products of two scales are normal floats."""


def power_of_two(largest: float) -> float:
    """Return the int8 step for numbers up to `largest`: the next power of two over 128."""
    exponent = math.ceil(math.log2(largest)) if largest > 0 else 0
    return 2.0 ** (min(max(exponent, -_LIMIT // 2), _LIMIT // 2) - 7)


def step_of(largest: float, shifts: bool) -> float:
    """Return the int8 step for numbers up to `largest`, as f32; with `shifts` a power of two."""
    if shifts or largest <= 0:
        return power_of_two(largest)
    bounded = min(max(largest, 2.0 ** (-_LIMIT // 2)), 2.0 ** (_LIMIT // 2))
    return float(np.float32(bounded / LARGEST))


def steps_of(
    array: Array, scale: Array, limit: int, dtype: type[np.signedinteger[Any]]
) -> Array | None:
    """Return an array in steps of a scale, rounding halves up.

    Return None if an element exceeds the limit by more than one step.
    """
    steps = np.floor(array.astype(np.float64) / scale + 0.5)
    clipped = np.clip(steps, -limit, limit)
    return clipped.astype(dtype) if np.abs(steps - clipped).max(initial=0) <= 1 else None


def weight_scale(array: Array, kept: int | None, shifts: bool) -> Array:
    """Return the step of a constant, or its steps along the axis `kept`, as f32 (`step_of`).

    The shape of the result broadcasts to the constant.
    """
    axes = tuple(axis for axis in range(array.ndim) if axis != kept)
    if kept is None:
        largest = np.abs(array).max(initial=0)
    else:
        largest = np.abs(array).max(axes, keepdims=True, initial=0)
        largest = largest.reshape(largest.shape[kept:])
    return np.vectorize(step_of, otypes=[np.float32])(largest, shifts)


def ranges_of(function: func.FuncOp) -> dict[str, float] | None:
    """Return the largest magnitude of each site by name; None if they were not measured."""
    found = function.attributes.get(_ATTRIBUTE)
    if not isinstance(found, DictionaryAttr):
        return None
    ranges: dict[str, float] = {}
    for name, attr in found.data.items():
        if isinstance(attr, FloatAttr):
            ranges[name] = float(nn.number(cast("FloatAttr[AnyFloat]", attr)))
    return ranges


def set_ranges(function: func.FuncOp, ranges: dict[str, float]) -> None:
    """Record the ranges of a network's sites for `nn-quantize`."""
    function.attributes[_ATTRIBUTE] = DictionaryAttr(
        {name: FloatAttr(value, f64) for name, value in ranges.items()}
    )


def clear_ranges(function: func.FuncOp) -> None:
    """Remove the ranges, which are not needed after quantisation."""
    function.attributes.pop(_ATTRIBUTE, None)
