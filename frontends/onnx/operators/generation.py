"""Constants, and tensors computed from shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from onnx import TensorProto
from xdsl.ir import SSAValue

from ...builder import Builder, dtype_of_value
from ..node import NodeContext, Table


def zeros(builder: Builder, shape: Sequence[int], like: SSAValue) -> SSAValue:
    """Return a constant of zeros with the element type of `like`."""
    builder.reserve(*shape)
    return builder.constant(np.zeros(tuple(shape), dtype_of_value(like)))


def checked_shape(node: NodeContext, shape: Sequence[int], itemsize: int = 8) -> tuple[int, ...]:
    """Return the shape of a tensor to generate; raise CloptError if it is too large."""
    if min(shape, default=0) < 0:
        node.refuse(f"cannot generate a tensor of shape {list(shape)}.")
    node.builder.reserve(*(max(n, 1) for n in shape), itemsize=itemsize)
    return tuple(shape)


def import_constant(node: NodeContext) -> SSAValue:
    """Import Constant: a tensor, or one of the short forms."""
    if (array := node.tensor("value")) is not None:
        return node.builder.constant(array, node.name)
    if node.has("value_float"):
        return node.builder.constant(np.array(node.real("value_float"), np.float32))
    if node.has("value_int"):
        return node.builder.constant(np.array(node.integer("value_int"), np.int64))
    if (floats := node.reals("value_floats")) is not None:
        return node.builder.constant(np.array(floats, np.float32))
    if (integers := node.integers("value_ints")) is not None:
        return node.builder.constant(np.array(integers, np.int64))
    node.refuse("its value is a string or a sparse tensor, which is not supported.")


def import_constant_of_shape(node: NodeContext) -> SSAValue:
    """Import ConstantOfShape: one value everywhere, by default the float zero."""
    value = node.tensor("value")
    if value is None:
        value = np.zeros(1, np.float32)
    if value.size != 1:
        node.refuse(f"its value must have one element but has {value.size}.")
    shape = checked_shape(node, node.constant_ints(0, "shape"), value.itemsize)
    return node.builder.constant(np.full(shape, value.reshape(-1)[0], value.dtype))


def import_eye_like(node: NodeContext) -> SSAValue:
    """Import EyeLike: ones on a diagonal of a matrix of the input's shape."""
    if node.rank() != 2:
        node.refuse("its input must be a matrix.")
    dtype = dtype_of_value(node.input(0))
    if node.has("dtype"):
        dtype = node.dtype(node.integer("dtype"))
    rows, columns = checked_shape(node, node.shape())
    return node.builder.constant(np.eye(rows, columns, node.integer("k", 0), dtype))


def import_range(node: NodeContext) -> SSAValue:
    """Import Range; half precision is accumulated in single precision, as stash_type requires."""
    if node.integer("stash_type", TensorProto.FLOAT) != TensorProto.FLOAT:
        node.refuse("only a stash_type of 1 (float) is supported.")
    names = ("start", "limit", "delta")
    parts = [node.constant_number(i, name) for i, name in enumerate(names)]
    dtype = dtype_of_value(node.input(0))
    wide = np.dtype(np.float32) if dtype == np.float16 else dtype
    start, limit, delta = (np.array(part, wide) for part in parts)
    if delta == 0:
        node.refuse("its delta is zero.")
    if not np.isfinite([start, limit, delta]).all():
        node.refuse("its start, limit and delta must be finite.")
    if dtype.kind == "f":
        count = math.ceil((float(limit) - float(start)) / float(delta))
    else:
        count = -((int(start) - int(limit)) // int(delta))
    (count,) = checked_shape(node, [max(count, 0)])
    values = start + np.arange(count).astype(wide) * delta
    return node.builder.constant(values.astype(dtype))


def import_shape(node: NodeContext) -> SSAValue:
    """Import Shape, or since opset 15 a range of it."""
    shape = node.shape()
    end = node.integer("end", len(shape))
    return node.builder.constant(np.array(shape[node.integer("start", 0) : end], np.int64))


def import_size(node: NodeContext) -> SSAValue:
    """Import Size."""
    return node.builder.constant(np.array(math.prod(node.shape()), np.int64))


TABLE: Table = {
    "Constant": {1: import_constant},
    "ConstantOfShape": {9: import_constant_of_shape},
    "EyeLike": {9: import_eye_like},
    "Range": {11: import_range},
    "Shape": {1: import_shape},
    "Size": {1: import_size},
}
