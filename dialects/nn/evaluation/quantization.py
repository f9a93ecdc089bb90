"""Quantisation in numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ... import nn
from .. import Array, Rounding

ROUNDING: dict[Rounding, Callable[[Array], Array]] = {
    Rounding.HALF_EVEN: np.rint,
    Rounding.HALF_UP: lambda x: np.floor(x + 0.5),
}
"""Rounding of doubles: adding 0.5 to an f32 is exact in f64 where it affects the result."""


def _quantize(op: nn.QuantizeOp, operands: Sequence[Array]) -> Array:
    x, scale, zero_point = operands
    wide = np.promote_types(x.dtype, np.float32)
    quotient = (x.astype(wide) / scale.astype(wide)).astype(np.float64)
    shifted = ROUNDING[op.rounding.data](quotient) + zero_point
    limits = np.iinfo(zero_point.dtype)
    return np.clip(shifted, limits.min, limits.max).astype(zero_point.dtype)


def _dequantize(_: nn.DequantizeOp, operands: Sequence[Array]) -> Array:
    q, scale, zero_point = operands
    difference = q.astype(np.int32) - zero_point.astype(np.int32)
    wide = np.promote_types(scale.dtype, np.float32)
    return (difference.astype(wide) * scale.astype(wide)).astype(scale.dtype)


EVALUATORS: dict[type[Operation], Callable[[Any, Sequence[Array]], Any]] = {
    nn.QuantizeOp: _quantize,
    nn.DequantizeOp: _dequantize,
}
