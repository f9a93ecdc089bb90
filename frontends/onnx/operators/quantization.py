"""Quantised operators as conversions and arithmetic, exact in the integers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.narrow import is_narrow, is_narrow_integer, wide_type
from ....dialects.nn.types import element_type, shape_of, tensor_type
from ...builder import Builder, dtype_of_value
from ..node import NodeContext, Results, Table
from .linear import matmul
from .window import read_window


def _along(node: NodeContext, value: SSAValue, axis: int, block: int) -> SSAValue:
    """Reshape a scale or zero point to broadcast with the first input.

    It is one number, a vector along the axis, or (blocked) a tensor with one entry per `block`
    elements of the axis.
    """
    builder, shape, given = node.builder, node.shape(), shape_of(value)
    if given in ((), (1,)):
        return builder.reshape(value, ())
    axis = node.axis(axis, len(shape))
    if len(given) == 1:
        return builder.reshape(value, (*given, *[1] * (len(shape) - 1 - axis)))
    if len(given) != len(shape) or block < 1 or -(-shape[axis] // block) != given[axis]:
        node.refuse(f"a scale of shape {list(given)} does not match blocks of {block}.")
    before, after = given[: axis + 1], given[axis + 1 :]
    column = builder.reshape(value, (*before, 1, *after))
    repeated = builder.expand(column, (*before, block, *after))
    wide = builder.reshape(repeated, (*given[:axis], given[axis] * block, *after))
    return builder.slice(wide, axis, 0, shape[axis])


def import_quantize_linear(node: NodeContext) -> SSAValue:
    """Import QuantizeLinear, per tensor, per axis or blocked."""
    builder, x, scale, zero_point = node.builder, node.input(0), node.input(1), node.optional(2)
    axis, block = node.integer("axis", 1), node.integer("block_size", 0)
    saturate = node.flag("saturate", True)
    asked, precision = node.integer("output_dtype", 0), node.integer("precision", 0)
    if zero_point is None:
        zero_point = builder.constant(np.zeros((), node.dtype(asked) if asked else np.uint8))
    wide = element_type(node.dtype(precision)) if precision else tensor_type(scale).element_type
    wide = wide_type(wide) if is_narrow(wide) else wide
    divisor = builder.cast(_along(node, scale, axis, block), wide)
    zero_point = _along(node, zero_point, axis, block)
    x, to = builder.cast(x, wide), tensor_type(zero_point).element_type
    if not is_narrow(to):
        return builder.add(nn.QuantizeOp(x, divisor, zero_point))
    if is_narrow_integer(to):
        # Clamped to 8 bits, then to fewer, a number is the same as clamped once.
        byte = builder.cast(zero_point, wide_type(to))
        limits = ml_dtypes.iinfo(dtype_of_value(zero_point))
        q = builder.add(nn.QuantizeOp(x, divisor, byte))
        return builder.cast(builder.add(nn.ClipOp(q, limits.min, limits.max)), to)
    moved = builder.binary("add", builder.binary("div", x, divisor), builder.cast(zero_point, wide))
    return builder.cast(moved, to, unsaturated=not saturate)


def import_dequantize_linear(node: NodeContext) -> SSAValue:
    """Import DequantizeLinear: (x - zero point) * scale, computed in single precision."""
    builder, x, scale, zero_point = node.builder, node.input(0), node.input(1), node.optional(2)
    axis, block = node.integer("axis", 1), node.integer("block_size", 0)
    asked = node.integer("output_dtype", 0)
    result = element_type(node.dtype(asked)) if asked else tensor_type(scale).element_type
    if zero_point is None:
        zero_point = builder.constant(np.zeros((), dtype_of_value(x)))
    factor = builder.cast(_along(node, scale, axis, block), f32)
    zero_point = _along(node, zero_point, axis, block)
    if is_narrow(element := tensor_type(x).element_type):
        wide = wide_type(element)
        x, zero_point = builder.cast(x, wide), builder.cast(zero_point, wide)
        if wide == f32:
            difference = builder.binary("sub", x, zero_point)
            return builder.cast(builder.binary("mul", difference, factor), result)
    return builder.cast(builder.add(nn.DequantizeOp(x, factor, zero_point)), result)


def import_dynamic_quantize_linear(node: NodeContext) -> Results:
    """Import DynamicQuantizeLinear."""
    return dynamically_quantised(node.builder, node.input(0))


def dynamically_quantised(builder: Builder, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Quantise `x` to bytes: the range of x and 0 in 255 steps. Return the scale and zero, too.

    Zeros get the scale 1 as in onnxruntime; ONNX's definition divides by 0.
    """
    axes = range(len(shape_of(x)))
    low = builder.binary("min", builder.reshape(builder.reduce("min", x, axes), ()), 0.0)
    high = builder.binary("max", builder.reshape(builder.reduce("max", x, axes), ()), 0.0)
    step = builder.binary("div", builder.binary("sub", high, low), 255.0)
    step = builder.where(builder.compare("eq", step, 0.0), builder.scalar(1.0, step), step)
    zero = builder.unary("neg", builder.binary("div", low, step))
    zero = builder.unary("round", builder.add(nn.ClipOp(zero, 0, 255)))
    zero = builder.cast(zero, element_type(np.dtype(np.uint8)))
    return builder.add(nn.QuantizeOp(x, step, zero)), step, zero


def centred(builder: Builder, x: SSAValue, zero_point: SSAValue | None) -> SSAValue:
    """Return x - zero point as i32; `zero_point` broadcasts to `x`."""
    wide = builder.cast(x, i32)
    if zero_point is None:
        return wide
    zero_point = _scalar_or_self(builder, zero_point)
    known = builder.known(zero_point)
    if known is not None and not known.any():
        return wide
    return builder.binary("sub", wide, builder.cast(zero_point, i32))


def _per_row(builder: Builder, value: SSAValue | None) -> SSAValue | None:
    """Reshape a vector with one entry per row of a matrix to a column."""
    if value is None or len(shape_of(value)) != 1 or shape_of(value) == (1,):
        return value
    return builder.reshape(value, (*shape_of(value), 1))


def import_matmul_integer(node: NodeContext) -> SSAValue:
    """Import MatMulInteger in 32 bits."""
    builder = node.builder
    a = centred(builder, node.input(0), _per_row(builder, node.optional(2)))
    return matmul(builder, a, centred(builder, node.input(1), node.optional(3)))


def import_qlinear_matmul(node: NodeContext) -> SSAValue:
    """Import QLinearMatMul: dequantise, multiply, quantise."""
    builder = node.builder
    a_scale, a_zero = (_per_row(builder, node.input(index)) for index in (1, 2))
    a = dequantised(builder, node.input(0), a_scale, a_zero)
    b = dequantised(builder, node.input(3), node.input(4), node.input(5))
    return quantised(builder, matmul(builder, a, b), node.input(6), node.input(7))


def dequantised(
    builder: Builder, q: SSAValue, scale: SSAValue | None, zero_point: SSAValue | None
) -> SSAValue:
    """Append a dequantisation; scale and zero point broadcast with `q`."""
    factor = builder.cast(_scalar_or_self(builder, scale), f32)
    return builder.add(nn.DequantizeOp(q, factor, _scalar_or_self(builder, zero_point)))


def quantised(builder: Builder, x: SSAValue, scale: SSAValue, zero_point: SSAValue) -> SSAValue:
    """Append a quantisation; scale and zero point broadcast with `x`."""
    step = builder.cast(_scalar_or_self(builder, scale), f32)
    return builder.add(nn.QuantizeOp(x, step, _scalar_or_self(builder, zero_point)))


def _scalar_or_self(builder: Builder, value: SSAValue | None) -> SSAValue:
    """Return a tensor of shape [1] as a scalar, so that it does not add a dimension."""
    assert value is not None
    return builder.reshape(value, ()) if shape_of(value) == (1,) else value


def _conv(node: NodeContext, weight: int, x: SSAValue, w: SSAValue, b: SSAValue | None) -> SSAValue:
    """Convolve x with w, the node's input `weight`, by the attributes of the node."""
    window = read_window(node, node.shape(weight)[2:])
    return node.add(
        nn.ConvOp(
            x,
            w,
            b,
            strides=window.strides,
            dilations=window.dilations,
            pads=window.pads,
            groups=node.integer("group", 1),
        )
    )


def _zero_points(node: NodeContext, *indices: int) -> tuple[SSAValue | None, SSAValue | None]:
    """Return the zero points of a convolution: one for its input, one or one per channel for w."""
    x_zero, w_zero = (node.optional(index) for index in indices)
    if x_zero is not None and shape_of(x_zero) not in ((), (1,)):
        node.refuse("the zero point of its input must be one number.")
    return x_zero, w_zero


def _per_channel(node: NodeContext, value: SSAValue | None) -> SSAValue | None:
    """Reshape a vector with one entry per output channel to broadcast with the weights."""
    if value is None or len(shape_of(value)) != 1 or shape_of(value) == (1,):
        return value
    return node.builder.reshape(value, (*shape_of(value), *[1] * (node.rank() - 1)))


def import_conv_integer(node: NodeContext) -> SSAValue:
    """Import ConvInteger in 32 bits; subtracting the zero point first keeps padding zero."""
    builder = node.builder
    x_zero, w_zero = _zero_points(node, 2, 3)
    x = centred(builder, node.input(0), x_zero)
    w = centred(builder, node.input(1), _per_channel(node, w_zero))
    return _conv(node, 1, x, w, None)


def import_qlinear_conv(node: NodeContext) -> SSAValue:
    """Import QLinearConv: dequantise, convolve, quantise."""
    builder, bias = node.builder, node.optional(8)
    x_zero, w_zero = _zero_points(node, 2, 5)
    x_scale, w_scale = node.input(1), node.input(4)
    x = dequantised(builder, node.input(0), x_scale, x_zero)
    scale, zero = (_per_channel(node, value) for value in (w_scale, w_zero))
    w = dequantised(builder, node.input(3), scale, zero)
    if bias is not None:
        step = builder.binary("mul", *(_scalar_or_self(builder, s) for s in (x_scale, w_scale)))
        none = builder.constant(np.zeros((), np.int32))
        bias = dequantised(builder, bias, step, none)
    return quantised(builder, _conv(node, 3, x, w, bias), node.input(6), node.input(7))


TABLE: Table = {
    "ConvInteger": {10: import_conv_integer},
    "DequantizeLinear": {10: import_dequantize_linear},
    "DynamicQuantizeLinear": {11: import_dynamic_quantize_linear},
    "MatMulInteger": {10: import_matmul_integer},
    "QLinearConv": {10: import_qlinear_conv},
    "QLinearMatMul": {10: import_qlinear_matmul},
    "QuantizeLinear": {10: import_quantize_linear},
}
