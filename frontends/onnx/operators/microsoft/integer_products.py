"""Products of integers that onnxruntime's dynamic quantiser fuses, and of packed weights."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from .....dialects import nn
from .....dialects.nn.types import Array, shape_of, tensor_type
from ....builder import Builder, dtype_of_value
from ...node import NodeContext, Results, Table
from ..linear import matmul
from ..quantization import centred, dequantised, dynamically_quantised
from ..recurrent import import_lstm
from .fused import with_bias


def import_matmul_integer_to_float(node: NodeContext) -> SSAValue:
    """Import MatMulIntegerToFloat: a product of centred integers, scaled, plus a bias."""
    builder, scale = node.builder, _scalar(node, 2, "scale")
    zero = None if node.optional(4) is None else _scalar(node, 4, "zero point")
    a = centred(builder, node.input(0), zero)
    b = centred(builder, node.input(1), node.optional(5))
    step = builder.binary("mul", scale, node.input(3))
    return with_bias(node, scaled_product(builder, a, b, step), 6)


def import_dynamic_quantize_matmul(node: NodeContext) -> SSAValue:
    """Import DynamicQuantizeMatMul: quantise A by its range, multiply integers, and scale."""
    builder = node.builder
    quantised, scale, zero = dynamically_quantised(builder, node.input(0))
    a = centred(builder, quantised, zero)
    b = centred(builder, node.input(1), node.optional(3))
    step = builder.binary("mul", scale, node.input(2))
    return with_bias(node, scaled_product(builder, a, b, step), 4)


def scaled_product(builder: Builder, a: SSAValue, b: SSAValue, step: SSAValue) -> SSAValue:
    """Multiply matrices of integers; `step` is one number, or one per column of `b`."""
    return builder.binary("mul", builder.cast(matmul(builder, a, b), f32), step)


def _scalar(node: NodeContext, index: int, what: str) -> SSAValue:
    if shape_of(node.input(index)) not in ((), (1,)):
        node.refuse(f"the {what} of A (input {index}) must be one number.")
    return node.builder.reshape(node.input(index), ())


def import_matmul_nbits(node: NodeContext) -> SSAValue:
    """Import MatMulNBits: dequantise the packed weights in blocks of a row, and multiply.

    The attribute `accuracy_level` allows less precision, which is not used.
    """
    builder, bits = node.builder, node.integer("bits", 4)
    rows, columns, block = (node.integer(name) for name in ("N", "K", "block_size"))
    node.integer("accuracy_level", 0)
    if node.integer("weight_prepacked", 0):
        node.refuse("its weights are packed for one device (weight_prepacked); export them plain.")
    if bits not in (2, 4, 8):
        node.refuse(f"weights of {bits} bits are not supported; they can have 2, 4 or 8.")
    if node.optional(4) is not None:
        node.refuse("g_idx is not supported; quantise without reordering.")
    blocks = -(-columns // block) if block > 0 else 0
    packed = node.constant(1, "weights")
    if packed.dtype != np.uint8 or packed.size * 8 != rows * blocks * block * bits:
        node.refuse(f"its weights of shape {list(packed.shape)} do not match N, K and block_size.")
    weights = unpacked(packed.reshape(rows, blocks, -1), bits)
    scale = builder.reshape(node.input(2), (rows, blocks, 1))
    wide = _blocks_dequantised(node, weights, scale, bits)
    flat = builder.slice(builder.reshape(wide, (rows, blocks * block)), 1, 0, columns)
    a = node.input(0)
    y = builder.matmul(a, builder.cast(flat, tensor_type(a).element_type), transpose_b=True)
    return with_bias(node, y, 5)


def _blocks_dequantised(node: NodeContext, weights: Array, scale: SSAValue, bits: int) -> SSAValue:
    """Dequantise weights [N, blocks, block]; the zero point of a block is packed or a float."""
    builder, (rows, blocks, _) = node.builder, weights.shape
    middle = np.full((rows, blocks, 1), 1 << (bits - 1), np.uint8)
    if (given := node.optional(3)) is None:
        return dequantised(builder, builder.constant(weights), scale, builder.constant(middle))
    if dtype_of_value(given) != np.uint8:
        zero = builder.cast(builder.reshape(given, (rows, blocks, 1)), f32)
        wide = builder.cast(builder.constant(weights), f32)
        return builder.binary("mul", builder.binary("sub", wide, zero), builder.cast(scale, f32))
    array = node.constant(3, "zero points").reshape(rows, -1)
    zeros = unpacked(array, bits)[:, :blocks].reshape(rows, blocks, 1)
    return dequantised(builder, builder.constant(weights), scale, builder.constant(zeros))


def unpacked(array: Array, bits: int) -> Array:
    """Return the integers of `bits` bits packed in the bytes of the last axis, low bits first."""
    parts = [array >> shift & ((1 << bits) - 1) for shift in range(0, 8, bits)]
    return np.stack(parts, -1).reshape(*array.shape[:-1], -1).astype(np.uint8)


def import_dynamic_quantize_lstm(node: NodeContext) -> Results:
    """Import DynamicQuantizeLSTM with dequantised weights.

    States stay floats, where onnxruntime rounds them to 8 bits at each step.
    """
    builder = node.builder
    for index, (scale, zero) in ((1, (8, 9)), (2, (10, 11))):
        node.check_rank(index, 3, 3)
        columns = [_per_direction(node, i) for i in (scale, zero)]
        wide = builder.add(nn.DequantizeOp(node.input(index), *columns))
        node.replace(index, builder.transpose(wide, (0, 2, 1)))
    node.inputs = node.inputs[:8]
    return import_lstm(node)


def _per_direction(node: NodeContext, index: int) -> SSAValue:
    """Reshape [directions] or [directions, 4 * hidden] to broadcast with the weights."""
    shape = node.shape(index)
    return node.builder.reshape(node.input(index), (shape[0], 1, shape[1] if len(shape) > 1 else 1))


TABLE: Table = {
    "DynamicQuantizeLSTM": {1: import_dynamic_quantize_lstm},
    "DynamicQuantizeMatMul": {1: import_dynamic_quantize_matmul},
    "MatMulIntegerToFloat": {1: import_matmul_integer_to_float},
    "MatMulNBits": {1: import_matmul_nbits},
}
