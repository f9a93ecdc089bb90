"""Convolutions."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....dialects import nn
from ..node import NodeContext, Results, Table
from .generation import zeros
from .window import (
    AUTO_PADS,
    read_kernel,
    read_lengths,
    read_window,
    split_pads,
)


def import_conv(node: NodeContext) -> SSAValue:
    """Import Conv; auto_pad becomes explicit pads."""
    x, w, b = node.input(0), node.input(1), node.optional(2)
    window = read_window(node, node.shape(1)[2:])
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


def import_conv_transpose(node: NodeContext) -> SSAValue:
    """Import ConvTranspose; output_shape and auto_pad become pads and output_padding."""
    x, w, b = node.input(0), node.input(1), node.optional(2)
    kernel = read_kernel(node, node.shape(1)[2:])
    rank = len(kernel)
    strides = read_lengths(node, "strides", rank, 1)
    dilations = read_lengths(node, "dilations", rank, 1)
    pads = read_lengths(node, "pads", 2 * rank, 0)
    extra = read_lengths(node, "output_padding", rank, 0)
    auto_pad = node.choice("auto_pad", "NOTSET", AUTO_PADS)
    sizes = node.shape()[2:]
    wanted = node.integers("output_shape")
    if wanted is None and auto_pad.startswith("SAME"):
        wanted = tuple(n * s for n, s in zip(sizes, strides, strict=True))
    if wanted is not None:
        if len(wanted) != rank:
            node.refuse(f"output_shape has {len(wanted)} entries; expected {rank}.")
        excess = [
            s * (n - 1) + e + (k - 1) * d + 1 - m
            for n, k, s, d, e, m in zip(
                sizes, kernel, strides, dilations, extra, wanted, strict=True
            )
        ]
        if node.integers("output_shape") is None and min(excess) < 0:
            # The specification and the reference implementation of ONNX pad the result, at
            # different ends; ONNX shape inference and onnxruntime do not.
            full = [m + t for m, t in zip(wanted, excess, strict=True)]
            node.refuse(
                f"{auto_pad} requires the size {list(wanted)}, but the kernel covers only {full}; "
                "give output_shape."
            )
        # A result larger than the full convolution is padded at the end.
        extra = tuple(e + max(-t, 0) for e, t in zip(extra, excess, strict=True))
        # Before opset 11, the formulas of the specification contradicted its definition of
        # auto_pad.
        pads = split_pads([max(t, 0) for t in excess], end_larger=auto_pad == "SAME_UPPER")
    elif auto_pad == "VALID":
        pads = (0,) * (2 * rank)
    return node.add(
        nn.ConvTransposeOp(
            x,
            w,
            b,
            strides=strides,
            dilations=dilations,
            pads=pads,
            output_padding=extra,
            groups=node.integer("group", 1),
        )
    )


def import_causal_conv_with_state(node: NodeContext) -> Results:
    """Import CausalConvWithState: a depthwise convolution over the state followed by the input."""
    x, w, b = node.input(0), node.input(1), node.optional(2)
    node.check_rank(0, 3, 3)
    node.check_rank(1, 3, 3)
    n, channels, _ = node.shape()
    held = max(node.shape(1)[2] - 1, 0)
    state = node.optional(3) or zeros(node.builder, (n, channels, held), x)
    series = node.builder.concat([state, x], 2) if held else x
    y = node.add(nn.ConvOp(series, w, b, groups=channels))
    if node.choice("activation", "none", ("none", "silu", "swish")) != "none":
        y = node.builder.unary("silu", y)
    length = node.shape()[2] + held
    return [y, node.builder.slice(series, 2, length - held, held) if held else state]


TABLE: Table = {
    "CausalConvWithState": {27: import_causal_conv_with_state},
    "Conv": {1: import_conv},
    "ConvTranspose": {1: import_conv_transpose},
}
