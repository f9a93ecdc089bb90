"""Normalisations."""

from __future__ import annotations

import math
from collections.abc import Sequence

from onnx import TensorProto
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import shape_of, tensor_type
from ...builder import dtype_of_value
from ..node import NodeContext, Results, Table


def _width(value: SSAValue) -> int:
    return dtype_of_value(value).itemsize


def import_batch_norm_6(node: NodeContext) -> Results:
    """Import BatchNormalization of opset 6, which trains unless is_test is set."""
    if not node.flag("is_test"):
        node.refuse("computes batch statistics (is_test = 0); export for inference.")
    return import_batch_norm_7(node)


def import_batch_norm_7(node: NodeContext) -> Results:
    """Import BatchNormalization of opset 7, whose `spatial` can request statistics per element."""
    if not node.flag("spatial", True):
        node.refuse("normalisation per element (spatial = 0) is not supported.")
    return import_batch_norm_9(node)


def import_batch_norm_9(node: NodeContext) -> Results:
    """Import BatchNormalization before opset 14: more than one output means training."""
    if any(node.wants(i) for i in range(1, 5)):
        node.refuse("computes batch statistics; export the model for inference.")
    node.real("momentum", 0.9)
    return _batch_norm(node, [node.input(i) for i in range(3, 5)])


def import_batch_norm(node: NodeContext) -> Results:
    """Import BatchNormalization; training mode uses the statistics of the batch itself."""
    momentum, builder = node.real("momentum", 0.9), node.builder
    if not node.flag("training_mode"):
        return _batch_norm(node, [node.input(i) for i in range(3, 5)])
    x, axes = node.input(0), [i for i in range(node.rank()) if i != 1]
    mean = builder.reduce("mean", x, axes)
    centered = builder.binary("sub", x, mean)
    variance = builder.reduce("mean", builder.binary("mul", centered, centered), axes, False)
    statistics = [builder.reshape(mean, shape_of(variance)), variance]
    running: list[SSAValue] = []
    for old, new in zip((node.input(3), node.input(4)), statistics, strict=True):
        kept = builder.binary("mul", old, momentum)
        fresh = builder.cast(new, tensor_type(old).element_type)
        running.append(builder.binary("add", kept, builder.binary("mul", fresh, 1 - momentum)))
    return [_batch_norm(node, statistics), *running]


def _batch_norm(node: NodeContext, statistics: Sequence[SSAValue]) -> SSAValue:
    """Append a batch normalisation in the widest of the operands' float types."""
    builder, x = node.builder, node.input(0)
    operands = [x, node.input(1), node.input(2), *statistics]
    wide = tensor_type(max(operands, key=_width)).element_type
    data, scale, bias, mean, variance = (builder.cast(v, wide) for v in operands)
    epsilon = node.real("epsilon", 1e-5)
    y = builder.add(nn.BatchNormOp(data, scale, bias, mean, variance, epsilon))
    return builder.cast(y, tensor_type(x).element_type)


def _check_stash_type(node: NodeContext) -> None:
    """Check stash_type: nn computes the statistics in at least single precision."""
    if node.integer("stash_type", TensorProto.FLOAT) != TensorProto.FLOAT:
        node.refuse("only a stash_type of 1 (float) is supported.")


def import_layer_norm(node: NodeContext) -> Results:
    """Import LayerNormalization; compute its mean and inverse deviation only if they are used."""
    builder, x = node.builder, node.input(0)
    _check_stash_type(node)
    axis = node.axis(node.integer("axis", -1), node.rank())
    epsilon = node.real("epsilon", 1e-5)
    y = builder.add(nn.LayerNormOp(x, node.input(1), node.optional(2), axis, epsilon))
    if not (node.wants(1) or node.wants(2)):
        return y
    axes = range(axis, node.rank())
    wide = x if dtype_of_value(x).itemsize > 4 else builder.cast(x, f32)
    mean = builder.reduce("mean", wide, axes)
    centered = builder.binary("sub", wide, mean)
    variance = builder.reduce("mean", builder.binary("mul", centered, centered), axes)
    inverse = builder.unary("rsqrt", builder.binary("add", variance, epsilon))
    return [y, builder.cast(mean, f32), builder.cast(inverse, f32)]


def import_rms_norm(node: NodeContext) -> Results:
    """Import RMSNormalization, and onnxruntime's SimplifiedLayerNormalization."""
    _check_stash_type(node)
    axis = node.axis(node.integer("axis", -1), node.rank())
    epsilon = node.real("epsilon", 1e-5)
    return node.add(nn.RmsNormOp(node.input(0), node.input(1), axis, epsilon))


def import_group_norm_18(node: NodeContext) -> SSAValue:
    """Import GroupNormalization before opset 21: expand scale and bias to channels."""
    node.check_rank(0, 2)
    builder, groups, channels = node.builder, node.integer("num_groups"), node.shape()[1]
    if groups < 1 or channels % groups:
        node.refuse(f"{channels} channels do not divide into {groups} groups.")

    def per_channel(value: SSAValue) -> SSAValue:
        column = builder.reshape(value, (groups, 1))
        return builder.reshape(builder.expand(column, (groups, channels // groups)), (channels,))

    scale, bias = per_channel(node.input(1)), per_channel(node.input(2))
    epsilon = node.real("epsilon", 1e-5)
    return node.add(nn.GroupNormOp(node.input(0), scale, bias, groups, epsilon))


def import_group_norm(node: NodeContext) -> SSAValue:
    """Import GroupNormalization with scale and bias per channel."""
    _check_stash_type(node)
    groups, epsilon = node.integer("num_groups"), node.real("epsilon", 1e-5)
    x, scale, bias = node.input(0), node.input(1), node.input(2)
    return node.add(nn.GroupNormOp(x, scale, bias, groups, epsilon))


def import_instance_norm(node: NodeContext) -> SSAValue:
    """Import InstanceNormalization: every channel is a group."""
    x, scale, bias = node.input(0), node.input(1), node.input(2)
    node.check_rank(0, 2)
    return node.add(nn.GroupNormOp(x, scale, bias, node.shape()[1], node.real("epsilon", 1e-5)))


def import_mean_variance_norm(node: NodeContext) -> SSAValue:
    """Import MeanVarianceNormalization: x minus its mean, divided by its standard deviation.

    ONNX's function subtracts the square of the mean from the mean of the squares, which suffers
    from cancellation.
    """
    builder, x = node.builder, node.input(0)
    given = node.integers("axes")
    axes = [node.axis(a, node.rank()) for a in ((0, 2, 3) if given is None else given)]
    centered = builder.binary("sub", x, builder.reduce("mean", x, axes))
    variance = builder.reduce("mean", builder.binary("mul", centered, centered), axes)
    deviation = builder.binary("add", builder.unary("sqrt", variance), 1e-9)
    return builder.binary("div", centered, deviation)


def import_lp_norm(node: NodeContext) -> SSAValue:
    """Import LpNormalization. The result is zero if the norm is zero."""
    builder, x, p = node.builder, node.input(0), node.integer("p", 2)
    if p not in (1, 2):
        node.refuse(f"p must be 1 or 2 but is {p}.")
    axis = node.axis(node.integer("axis", -1), node.rank())
    norm = builder.reduce(f"l{p}", x, [axis])
    # Where the norm is zero every element is zero, so any non-zero divisor gives zeros.
    one, is_zero = builder.scalar(1, x), builder.compare("eq", norm, 0)
    return builder.binary("div", x, builder.where(is_zero, one, norm))


def import_lrn(node: NodeContext) -> SSAValue:
    """Import LRN; its sum over adjacent channels is an average pooling times its size."""
    builder, x, shape = node.builder, node.input(0), node.shape()
    size = node.integer("size")
    node.check_rank(0, 2)
    if size < 1:
        node.refuse(f"its size must be positive but is {size}.")
    alpha, beta, bias = node.real("alpha", 1e-4), node.real("beta", 0.75), node.real("bias", 1.0)
    image = (shape[0], 1, shape[1], math.prod(shape[2:]))
    squares = builder.reshape(builder.binary("mul", x, x), image)
    before, after = (size - 1) // 2, size // 2
    padded = builder.add(nn.PadOp(squares, [0, 0, before, 0], [0, 0, after, 0]))
    mean = builder.add(nn.PoolOp(padded, "average", (size, 1)))
    scaled = builder.binary("add", builder.binary("mul", mean, alpha), bias)
    divisor = builder.binary("pow", builder.reshape(scaled, shape), beta)
    return builder.binary("div", x, divisor)


TABLE: Table = {
    "BatchNormalization": {
        6: import_batch_norm_6,
        7: import_batch_norm_7,
        9: import_batch_norm_9,
        14: import_batch_norm,
    },
    "GroupNormalization": {18: import_group_norm_18, 21: import_group_norm},
    "InstanceNormalization": {6: import_instance_norm},
    "LRN": {1: import_lrn},
    "LayerNormalization": {1: import_layer_norm},
    "LpNormalization": {1: import_lp_norm},
    "MeanVarianceNormalization": {9: import_mean_variance_norm},
    "RMSNormalization": {23: import_rms_norm},
    "SimplifiedLayerNormalization": {1: import_rms_norm},
}
