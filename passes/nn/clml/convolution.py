"""Legalisation of convolutions with the batch normalisation and activation that follow them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from xdsl.ir import Operation, SSAValue

from ....dialects import clml, nn
from ....dialects.clml import Activation, ConvMode, Shape
from ....dialects.inferred import require
from ....dialects.nn import Array, ints, shape_of
from .builder import CommandBuilder, borders, plane, require_constant, sizes_of


def activation_of(op: Operation) -> Activation | None:
    """Return the CLML activation that computes `op` fused with a convolution, else None."""
    match op:
        case nn.UnaryOp() if op.kind.data is nn.UnaryKind.RELU:
            return Activation.RELU
        case nn.ClipOp() if op.bounds() == (0, 6):
            return Activation.RELU6
        case nn.ClipOp() if op.bounds() == (0, None):
            return Activation.RELU
        case _:
            return None


class _WindowProperties(TypedDict):
    """The properties of a CLML convolution that describe its window."""

    mode: ConvMode
    strides: Sequence[int]
    dilations: Sequence[int]
    pads: Sequence[int]


@dataclass
class _Convolution:
    """The tensors and the window of a convolution."""

    x: SSAValue
    w: SSAValue
    b: SSAValue | None
    window: _WindowProperties
    sizes: Shape
    """Sizes of the result."""


def convolution(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.conv`, ordinary or depthwise, with the operations fused into it."""
    conv = ops[0]
    assert isinstance(conv, nn.ConvOp)
    require_constant(conv.w)
    channels, groups = shape_of(conv.x)[1], conv.groups.value.data
    o, i, kh, kw = sizes_of(shape_of(conv.w))
    depthwise = groups > 1 and groups == channels == o and i == 1
    require(
        groups == 1 or depthwise,
        f"CLML has convolutions with one group or one filter per channel, not with {groups} groups "
        f"of {channels} to {o} channels",
    )
    sizes: Shape = (1, o, kh, kw) if depthwise else (o, i, kh, kw)
    return _with_tail(
        _Convolution(
            builder.read(conv.x),
            builder.weight(conv.w, sizes),
            _bias(conv.b, o, builder),
            {
                "mode": ConvMode.DEPTHWISE if depthwise else ConvMode.CONVOLUTION,
                "strides": plane(ints(conv.strides), 1),
                "dilations": plane(ints(conv.dilations), 1),
                "pads": borders(ints(conv.pads)),
            },
            sizes_of(shape_of(conv.result)),
        ),
        ops[1:],
        builder,
    )


def transposed_convolution(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build `nn.conv_transpose` with the operations fused into it.

    CLML has no `output_padding`, which adds rows and columns that `pads` would otherwise cut off.
    Subtracting them from the end pads is exact if the end pads are at least as large.
    """
    conv = ops[0]
    assert isinstance(conv, nn.ConvTransposeOp)
    require_constant(conv.w)
    groups = conv.groups.value.data
    require(groups == 1, f"CLML has no transposed convolution with {groups} groups")
    i, o, kh, kw = sizes_of(shape_of(conv.w))
    top, left, bottom, right = borders(ints(conv.pads))
    more_rows, more_columns = plane(ints(conv.output_padding), 0)
    require(
        more_rows <= bottom and more_columns <= right,
        f"CLML has no output_padding, and {[more_rows, more_columns]} is more than the padding "
        f"{[bottom, right]} at the end",
    )
    return _with_tail(
        _Convolution(
            builder.read(conv.x),
            builder.weight(conv.w, (o, i, kh, kw), transform=_swap_channels),
            _bias(conv.b, o, builder),
            {
                "mode": ConvMode.TRANSPOSE,
                "strides": plane(ints(conv.strides), 1),
                "dilations": plane(ints(conv.dilations), 1),
                "pads": (top, left, bottom - more_rows, right - more_columns),
            },
            sizes_of(shape_of(conv.result)),
        ),
        ops[1:],
        builder,
    )


def _swap_channels(w: Array) -> Array:
    """Permute [I, O, ..] to [O, I, ..]."""
    return w.swapaxes(0, 1)


def _bias(b: SSAValue | None, channels: int, builder: CommandBuilder) -> SSAValue | None:
    """Return the parameter of a bias, if there is one."""
    return None if b is None else builder.weight(b, (1, channels, 1, 1))


def _with_tail(conv: _Convolution, tail: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Add the command that computes a convolution and the operations fused with it."""
    norm = next((op for op in tail if isinstance(op, nn.BatchNormOp)), None)
    function = activation_of(tail[-1]) if tail else None
    result = builder.like(conv.x, conv.sizes)
    operands = (conv.x, conv.w, conv.b)
    if norm is None:
        if function is None:
            return builder.add(clml.ConvOp(*operands, result, **conv.window))
        return builder.add(
            clml.ConvActivationOp(*operands, result, activation=function, **conv.window)
        )
    vectors = statistics(norm, builder)
    epsilon = nn.floats(norm.epsilon)[0]
    if function is None:
        return builder.add(
            clml.ConvBatchNormOp(*operands, *vectors, result, epsilon=epsilon, **conv.window)
        )
    return builder.add(
        clml.ConvBatchNormActivationOp(
            *operands, *vectors, result, activation=function, epsilon=epsilon, **conv.window
        )
    )


def statistics(
    norm: nn.BatchNormOp, builder: CommandBuilder
) -> tuple[SSAValue, SSAValue, SSAValue, SSAValue]:
    """Return mean, variance, scale and bias of a batch normalisation, in CLML's order."""
    sizes: Shape = (1, shape_of(norm.x)[1], 1, 1)
    for value in (norm.mean, norm.var, norm.scale, norm.bias):
        require_constant(value)
    mean = builder.weight(norm.mean, sizes)
    variance = builder.weight(norm.var, sizes)
    return mean, variance, builder.weight(norm.scale, sizes), builder.weight(norm.bias, sizes)


def batch_norm(ops: Sequence[Operation], builder: CommandBuilder) -> SSAValue:
    """Build a separate `nn.batch_norm`."""
    (norm,) = ops
    assert isinstance(norm, nn.BatchNormOp)
    vectors = statistics(norm, builder)
    x = builder.read(norm.x)
    result = builder.like(x, sizes_of(shape_of(norm.result)))
    return builder.add(clml.BatchNormOp(x, *vectors, result, epsilon=nn.floats(norm.epsilon)[0]))
