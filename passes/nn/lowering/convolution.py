"""Lowering of convolution: a reduction over input channels and the window."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import nn
from .body import Body, Index
from .kernel import Accumulator, Element, Kernel
from .scalar import Scalar

SPATIAL_AXES = {1: ("w",), 2: ("h", "w"), 3: ("d", "h", "w")}


def add_bias(element: Element, op: nn.ConvOp | nn.ConvTransposeOp) -> Element:
    """`element` plus the bias of its channel, where the operation has one."""
    bias = op.b
    if bias is None:
        return element
    return lambda body, index: element(body, index) + body.read(bias, [index[1]])


def lower_conv(kernel: Kernel, op: nn.ConvOp) -> None:
    """`y[n, o, p] = sum over c, k of x[n, g(o) + c, p * stride + k * dilation - pad] w[o, c, k]`.
    """
    x_shape, w_shape, shape = nn.shape_of(op.x), nn.shape_of(op.w), nn.shape_of(op.result)
    strides, dilations = nn.ints(op.strides), nn.ints(op.dilations)
    rank = len(strides)
    pads = nn.ints(op.pads)[:rank]
    channels_per_group = w_shape[1]
    outputs_per_group = w_shape[0] // op.groups.value.data
    element_type = nn.tensor_type(op.result).element_type

    def update(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], sums: Sequence[Scalar]
    ) -> list[Scalar]:
        n, o, *position = index
        c, *window = reduce
        group = o // outputs_per_group
        taps = [
            p * s + k * d - pad
            for p, s, k, d, pad in zip(position, strides, window, dilations, pads, strict=True)
        ]
        x = body.read_or(op.x, [n, group * channels_per_group + c, *taps], x_shape, 0)
        return [sums[0] + x * body.read(op.w, [o, c, *window])]

    names = SPATIAL_AXES[rank]
    axes = ["n", "o", *names, "c", *(f"k{name}" for name in names)]
    (element,) = kernel.reduction(
        "conv", shape, w_shape[1:], [Accumulator(element_type, 0)], update, axes
    )
    kernel.define(op.result, add_bias(element, op))
