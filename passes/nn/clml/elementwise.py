"""Legalisation of elementwise functions; CLML does not broadcast."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from ....dialects import clml, nn
from ....dialects.clml import Activation, Shape
from ....dialects.inferred import require
from ....dialects.nn import Array, shape_of
from .builder import CommandBuilder, expect, sizes_of
from .convolution import activation_of

_UNARY = {
    nn.UnaryKind.RELU: Activation.RELU,
    nn.UnaryKind.SIGMOID: Activation.SIGMOID,
    nn.UnaryKind.SILU: Activation.SIGMOID,
    nn.UnaryKind.TANH: Activation.TANH,
}


def activation(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.unary` if CLML has the function; silu becomes a product with the sigmoid."""
    (op,) = ops
    assert isinstance(op, nn.UnaryOp)
    function = expect(
        _UNARY.get(op.kind.data),
        f"CLML has the functions {', '.join(_UNARY)}, not {op.kind.data}",
    )
    x = builder.read(op.x, builder.common_layout([op.x]))
    result = builder.like(x, sizes_of(shape_of(op.result)))
    y = builder.add(clml.ActivationOp(x, result, activation=function))
    if op.kind.data is nn.UnaryKind.SILU:
        y = builder.add(clml.BinaryOp(x, y, result, kind=nn.BinaryKind.MUL))
    return y


def clip(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.clip`; the bounds of relu or relu6 become that activation."""
    (op,) = ops
    assert isinstance(op, nn.ClipOp)
    x = builder.read(op.x, builder.common_layout([op.x]))
    result = builder.like(x, sizes_of(shape_of(op.result)))
    function = activation_of(op)
    if function is not None:
        return builder.add(clml.ActivationOp(x, result, activation=function))
    low, high = (
        expect(bound, "CLML's clip has two bounds, but this one lacks a bound")
        for bound in op.bounds()
    )
    return builder.add(clml.ClipOp(x, result, minimum=low, maximum=high))


def binary(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.binary` of two tensors; constants are broadcast at compile time."""
    (op,) = ops
    assert isinstance(op, nn.BinaryOp)
    shape = shape_of(op.result)
    sizes = sizes_of(shape)
    computed = [v for v in (op.a, op.b) if not isinstance(v.owner, nn.ConstantOp)]
    for value in computed:
        require(
            shape_of(value) == shape,
            f"CLML does not broadcast, but an operand has shape {list(shape_of(value))} and the "
            f"result {list(shape)}",
        )
    require(bool(computed), "CLML needs a computed operand, but both are constants")
    layout = builder.common_layout(computed)

    def expand(array: Array) -> Array:
        return np.broadcast_to(array, shape)

    a, b = (
        builder.weight(value, sizes, layout, None if shape_of(value) == shape else expand)
        if isinstance(value.owner, nn.ConstantOp)
        else builder.read(value, layout)
        for value in (op.a, op.b)
    )
    return builder.add(
        clml.BinaryOp(a, b, builder.like(computed_of(a, b), sizes), kind=op.kind.data)
    )


def computed_of(a: SSAValue, b: SSAValue) -> SSAValue:
    """Return the tensor that is not a parameter; `a` if neither is one."""
    return b if clml.ml_tensor(a).usage is clml.Usage.PARAMETER else a


def per_channel(op: Operation) -> SSAValue | None:
    """Return the constant that `op` multiplies with, adds to or subtracts from a tensor.

    The constant has one value, or one per channel. Return None for any other operation.
    """
    if not isinstance(op, nn.BinaryOp) or len(shape_of(op.result)) < 2:
        return None
    x, c = op.a, op.b
    commutes = op.kind.data in (nn.BinaryKind.ADD, nn.BinaryKind.MUL)
    if commutes and isinstance(x.owner, nn.ConstantOp):
        x, c = c, x
    if not commutes and op.kind.data is not nn.BinaryKind.SUB:
        return None
    if not isinstance(c.owner, nn.ConstantOp) or x.type != op.result.type:
        return None
    shape, constant_shape = shape_of(x), shape_of(c)
    aligned = (1,) * (len(shape) - len(constant_shape)) + constant_shape
    varies = [i for i, size in enumerate(aligned) if size != 1]
    return c if varies in ([], [1]) else None


def is_shift(op: Operation, scale: Operation) -> bool:
    """Return whether `op` adds a constant per channel to the per-channel product `scale`."""
    if not isinstance(op, nn.BinaryOp) or not isinstance(scale, nn.BinaryOp):
        return False
    kinds = (nn.BinaryKind.ADD, nn.BinaryKind.SUB)
    if scale.kind.data is not nn.BinaryKind.MUL or op.kind.data not in kinds:
        return False
    return per_channel(op) is not None and per_channel(scale) is not None


def scale_and_shift(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build a scale, a shift or both, per channel, as a batch norm of mean 0 and variance 1.

    The constants of a batch norm are vectors; those of binary commands would be whole tensors.
    """
    first = ops[0]
    assert isinstance(first, nn.BinaryOp)
    constants = [expect(per_channel(op), "this is not a scale or shift per channel") for op in ops]
    x = builder.read(first.b if first.a is constants[0] else first.a)
    channels = shape_of(first.result)[1]
    dtype = nn.numpy_dtype(nn.tensor_type(first.result).element_type)
    sizes: Shape = (1, channels, 1, 1)

    def whole(array: Array) -> Array:
        return np.broadcast_to(array.reshape(-1), (channels,))

    def negated(array: Array) -> Array:
        return -whole(array)

    zeros, ones = np.zeros(channels, dtype), np.ones(channels, dtype)
    mean, variance = builder.parameter(zeros, sizes), builder.parameter(ones, sizes)
    scale, bias = variance, mean
    for op, constant in zip(ops, constants, strict=True):
        assert isinstance(op, nn.BinaryOp)
        is_vector = nn.count(shape_of(constant)) == channels
        match op.kind.data:
            case nn.BinaryKind.MUL:
                scale = builder.weight(constant, sizes, transform=None if is_vector else whole)
            case nn.BinaryKind.ADD:
                bias = builder.weight(constant, sizes, transform=None if is_vector else whole)
            case _:
                bias = builder.weight(constant, sizes, transform=negated)
    result = builder.like(x, sizes_of(shape_of(first.result)))
    return builder.add(clml.BatchNormOp(x, mean, variance, scale, bias, result, epsilon=0.0))


def softmax(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.softmax` along an axis that a reshape can turn into the channels."""
    (op,) = ops
    assert isinstance(op, nn.SoftmaxOp)
    require(op.log is None, "CLML has no logarithm of softmax")
    shape, axis = shape_of(op.x), op.axis.value.data
    outer, n, inner = nn.count(shape[:axis]), shape[axis], nn.count(shape[axis + 1 :])
    require(
        outer == 1,
        f"CLML's softmax is over the channels (axis 1 behind a batch of 1), not over axis {axis} "
        f"of {list(shape)}",
    )
    sizes = sizes_of(shape)
    channels: Shape = sizes if axis == 1 else (1, n, inner, 1)
    layout = clml.Layout.OPTIMAL if channels[2:] == (1, 1) else clml.Layout.NCHW
    x = builder.shaped(builder.read(op.x, layout), channels)
    y = builder.add(clml.SoftmaxOp(x, builder.like(x, channels)))
    return builder.shaped(y, sizes)
