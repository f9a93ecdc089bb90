"""Quantised operators of the domain com.microsoft, which onnxruntime's quantiser emits.

Each is imported as the float operator between DequantizeLinear and QuantizeLinear, so that
QOperator models import as the equivalent QDQ models do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import SSAValue

from .....dialects.nn.types import shape_of
from ....builder import dtype_of_value
from ...node import Handler, NodeContext, Table
from ..pooling import average, import_max_pool
from ..quantization import (
    dequantised,
    import_dequantize_linear,
    import_qlinear_conv,
    import_quantize_linear,
    quantised,
)
from ..reduction import over_rows, softmax
from .channels_last import channels_last, flagged


def _input(node: NodeContext, index: int) -> SSAValue:
    """Return the input at `index` dequantised; its scale and optional zero point follow it."""
    x, zero = node.input(index), node.optional(index + 2)
    if zero is None:
        zero = node.builder.constant(np.zeros((), dtype_of_value(x)))
    return dequantised(node.builder, x, node.input(index + 1), zero)


def _output(node: NodeContext, y: SSAValue, index: int) -> SSAValue:
    """Quantise `y` with the scale at input `index` and the optional zero point after it."""
    zero = node.optional(index + 1)
    if zero is None:
        zero = node.builder.constant(np.zeros((), dtype_of_value(node.input(0))))
    return quantised(node.builder, y, node.input(index), zero)


def unary(function: Callable[[NodeContext, SSAValue], SSAValue]) -> Handler:
    """Return the importer of a function of x.

    Its inputs are x with its scale and zero point, then the result's scale and zero point.
    """
    return lambda node: _output(node, function(node, _input(node, 0)), 3)


def binary(kind: str) -> Handler:
    """Return the importer of a quantised nn.binary, with scale and zero point per value."""

    def handler(node: NodeContext) -> SSAValue:
        y = node.builder.binary(kind, _input(node, 0), _input(node, 3))
        return _output(node, y, 6)

    return handler


def _global_average(node: NodeContext, x: SSAValue) -> SSAValue:
    rank = node.rank()
    axes = range(1, rank - 1) if node.flag("channels_last") else range(2, rank)
    return node.builder.reduce("mean", x, axes)


def _softmax(node: NodeContext, x: SSAValue) -> SSAValue:
    """Apply Softmax as the opset of the float model defines it."""
    is_flat = node.integer("opset") < 13
    axis = node.axis(node.integer("axis", 1 if is_flat else -1), node.rank())
    return over_rows(softmax, node.builder, x, axis) if is_flat else softmax(node.builder, x, axis)


def import_concat(node: NodeContext) -> SSAValue:
    """Import QLinearConcat: scale and zero point of the result, then each value with its own."""
    if len(node.inputs) % 3 != 2:
        node.refuse("each of its values needs a scale and a zero point.")
    values = [_input(node, index) for index in range(2, len(node.inputs), 3)]
    axis = node.axis(node.integer("axis"), node.rank(2))
    return quantised(node.builder, node.builder.concat(values, axis), node.input(0), node.input(1))


def import_gemm(node: NodeContext) -> SSAValue:
    """Import QGemm: a scaled product of matrices plus a 32-bit bias.

    The result is float if it has no scale.
    """
    builder, c, alpha = node.builder, node.optional(6), node.real("alpha", 1.0)
    if node.rank(0) != 2 or node.rank(3) != 2:
        node.refuse("its inputs must be two matrices.")
    transposed = node.flag("transB")
    scale, zero = (
        builder.reshape(value, (*shape_of(value), 1))
        if transposed and len(shape_of(value)) == 1 and shape_of(value) != (1,)
        else value
        for value in (node.input(4), node.input(5))
    )
    b = dequantised(builder, node.input(3), scale, zero)
    y = builder.matmul(_input(node, 0), b, node.flag("transA"), transposed)
    if alpha != 1.0:
        y = builder.binary("mul", y, alpha)
    if c is not None:
        step = builder.binary("mul", *(_number(node, index) for index in (1, 4)))
        step = builder.binary("mul", step, alpha) if alpha != 1.0 else step
        none = builder.constant(np.zeros((), np.int32))
        y = builder.binary("add", y, dequantised(builder, c, step, none))
    return y if node.optional(7) is None else _output(node, y, 7)


def _number(node: NodeContext, index: int) -> SSAValue:
    value = node.input(index)
    return node.builder.reshape(value, ()) if shape_of(value) == (1,) else value


def import_where(node: NodeContext) -> SSAValue:
    """Import QLinearWhere: select between two values, each with its own scale."""
    y = node.builder.where(node.input(0), _input(node, 1), _input(node, 4))
    return _output(node, y, 7)


TABLE: Table = {
    "DequantizeLinear": {1: import_dequantize_linear},
    "NhwcMaxPool": {1: channels_last(import_max_pool, 0)},
    "QGemm": {1: import_gemm},
    "QLinearAdd": {1: binary("add")},
    "QLinearAveragePool": {
        1: flagged(unary(lambda node, x: average(node, x, dilated=False)), 0),
    },
    "QLinearConcat": {1: import_concat},
    "QLinearConv": {1: flagged(import_qlinear_conv, 0)},
    "QLinearGlobalAveragePool": {1: unary(_global_average)},
    "QLinearLeakyRelu": {
        1: unary(lambda node, x: node.builder.unary("leaky_relu", x, node.real("alpha", 0.01)))
    },
    "QLinearMul": {1: binary("mul")},
    "QLinearSigmoid": {1: unary(lambda node, x: node.builder.unary("sigmoid", x))},
    "QLinearSoftmax": {1: unary(_softmax)},
    "QLinearWhere": {1: import_where},
    "QuantizeLinear": {1: import_quantize_linear},
}
