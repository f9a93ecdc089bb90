"""Scales, of powers of two where those are needed, and constants in steps of them."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import AnyFloat, DictionaryAttr, FloatAttr, f64

from ....dialects import nn
from ....dialects.nn import Array

LARGEST = 127
"""Of a weight: int8 without -128, whose negative is none."""

_ATTRIBUTE = "nn.ranges"
_LIMIT = 100
"""The exponents of ranges; products of two scales are normal floats then."""


def power_of_two(largest: float) -> float:
    """The step of int8 for numbers up to `largest`: the power of two above it, over 128."""
    exponent = math.ceil(math.log2(largest)) if largest > 0 else 0
    return 2.0 ** (min(max(exponent, -_LIMIT // 2), _LIMIT // 2) - 7)


def step_of(largest: float, shifts: bool) -> float:
    """The step of int8 for numbers up to `largest`, as f32; with `shifts` a power of two."""
    if shifts or largest <= 0:
        return power_of_two(largest)
    bounded = min(max(largest, 2.0 ** (-_LIMIT // 2)), 2.0 ** (_LIMIT // 2))
    return float(np.float32(bounded / LARGEST))


def steps_of(
    array: Array, scale: Array, limit: int, dtype: type[np.signedinteger[Any]]
) -> Array | None:
    """An array in steps of a scale, halves up; None if one is more than a step beyond the limit."""
    steps = np.floor(array.astype(np.float64) / scale + 0.5)
    clipped = np.clip(steps, -limit, limit)
    return clipped.astype(dtype) if np.abs(steps - clipped).max(initial=0) <= 1 else None


def weight_scale(array: Array, kept: int | None, shifts: bool) -> Array:
    """The step of a constant, or the steps along the axis that is kept, in a shape that broadcasts.

    A step is that of `step_of`, as f32.
    """
    axes = tuple(axis for axis in range(array.ndim) if axis != kept)
    if kept is None:
        largest = np.abs(array).max(initial=0)
    else:
        largest = np.abs(array).max(axes, keepdims=True, initial=0)
        largest = largest.reshape(largest.shape[kept:])
    return np.vectorize(step_of, otypes=[np.float32])(largest, shifts)


def ranges_of(function: func.FuncOp) -> dict[str, float] | None:
    """The greatest absolute value of each site by its name; None if nobody measured them."""
    found = function.attributes.get(_ATTRIBUTE)
    if not isinstance(found, DictionaryAttr):
        return None
    ranges: dict[str, float] = {}
    for name, attr in found.data.items():
        if isinstance(attr, FloatAttr):
            ranges[name] = float(nn.number(cast("FloatAttr[AnyFloat]", attr)))
    return ranges


def set_ranges(function: func.FuncOp, ranges: dict[str, float]) -> None:
    """Note the ranges of a network's sites, for `nn-quantize`."""
    function.attributes[_ATTRIBUTE] = DictionaryAttr(
        {name: FloatAttr(value, f64) for name, value in ranges.items()}
    )


def clear_ranges(function: func.FuncOp) -> None:
    """Drop the ranges, of which nothing is left to decide."""
    function.attributes.pop(_ATTRIBUTE, None)
