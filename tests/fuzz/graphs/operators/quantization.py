"""Quantised values."""

from __future__ import annotations

import numpy as np

from ..builder import GraphBuilder
from ..values import Value

BYTES = (np.uint8, np.int8)


def _scale(g: GraphBuilder) -> str:
    return g.constant(g.one_of(0.02, 0.1, 0.11), "f")


def _zero_point(g: GraphBuilder, type: type[np.generic]) -> str:
    return g.constant(g.one_of(0, 3, 100), type)


def _quantize(g: GraphBuilder, x: Value, type: type[np.generic]) -> Value:
    return g.op("QuantizeLinear", x, _scale(g), _zero_point(g, type))


def quantize(g: GraphBuilder) -> None:
    """Floats to bytes and back, as models trained for it do everywhere."""
    scale, zero_point = _scale(g), _zero_point(g, g.random.choice(BYTES))
    y = g.op("QuantizeLinear", g.pick(), scale, zero_point)
    g.op("DequantizeLinear", y, scale, zero_point)


def dequantize(g: GraphBuilder) -> None:
    """Bytes to floats, with one scale for each channel."""
    type = g.random.choice(BYTES)
    x = g.pick((type,), rank=(2, 3, 4))
    axis = g.random.randrange(x.rank)
    scale = g.constant(g.numbers.uniform(0.01, 0.1, x.shape[axis]), "f")
    zero_point = g.constant(g.array((x.shape[axis],), type))
    g.op("DequantizeLinear", x, scale, zero_point, axis=axis)


def qlinear_conv(g: GraphBuilder) -> None:
    """QLinearConv behind a quantisation."""
    x = g.pick(rank=(4,))
    type, channels = g.random.choice(BYTES), g.one_of(1, 3, 4)
    scale, zero_point = _scale(g), _zero_point(g, type)
    y = g.op("QuantizeLinear", x, scale, zero_point)
    weight = g.weight(channels, x.shape[1], 3, 3, type=np.int8)
    bias = g.weight(channels, type=np.int32) if g.chance(0.5) else None
    # A round quotient of the scales would put sums in the middle between two steps, where the order
    # of roundings decides.
    w_scale, w_zero = g.constant(0.0473, "f"), g.constant(0, np.int8)
    y_scale, y_zero = g.constant(0.3137, "f"), _zero_point(g, type)
    operands = (y, scale, zero_point, weight, w_scale, w_zero, y_scale, y_zero, bias)
    g.op("QLinearConv", *operands, pads=[1, 1, 1, 1])


def matmul_integer(g: GraphBuilder) -> None:
    """MatMulInteger of bytes."""
    x = g.pick((np.uint8,), rank=(2, 3))
    weight = g.weight(x.shape[-1], g.extent(), type=g.random.choice(BYTES))
    g.op("MatMulInteger", x, weight, _zero_point(g, np.uint8) if g.chance(0.5) else None)


def dynamic_quantize(g: GraphBuilder) -> None:
    """Floats quantised by their own range, then restored."""
    y, scale, zero_point = g.op("DynamicQuantizeLinear", g.pick(), outputs=3)
    g.op("DequantizeLinear", y, scale, zero_point)


OPERATORS = {
    "quantize": (3, quantize),
    "dequantize": (1, dequantize),
    "qlinear_conv": (1, qlinear_conv),
    "matmul_integer": (1, matmul_integer),
    "dynamic_quantize": (1, dynamic_quantize),
}
