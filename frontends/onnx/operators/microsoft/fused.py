"""Operators that onnxruntime fuses of products, convolutions and elementwise functions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from .....dialects import nn
from .....dialects.nn.types import shape_of
from ...node import NodeContext, Results, Table
from ..activations import FUNCTIONS, activation
from ..conv import import_conv
from ..elementwise import unary
from ..linear import import_gemm
from .channels_last import channels_last


def import_fused_matmul(node: NodeContext) -> SSAValue:
    """Import FusedMatMul: a scaled product of optionally transposed matrices."""
    if node.rank(0) < 2 or node.rank(1) < 2:
        node.refuse("its inputs must be matrices.")
    a, b = (
        _batch_first(node, index) if node.flag(f"transBatch{name}") else node.input(index)
        for index, name in enumerate("AB")
    )
    product = node.builder.matmul(a, b, node.flag("transA"), node.flag("transB"))
    alpha = node.real("alpha", 1.0)
    return product if alpha == 1.0 else node.builder.binary("mul", product, alpha)


def _batch_first(node: NodeContext, index: int) -> SSAValue:
    """Move the first dimension of an input to the position after its batch dimensions."""
    rank = node.rank(index)
    return node.builder.transpose(node.input(index), (*range(1, rank - 1), 0, rank - 1))


def import_fused_gemm(node: NodeContext) -> SSAValue:
    """Import FusedGemm: Gemm and an activation."""
    names = [f"activation_{name}" for name in ("alpha", "beta", "gamma")]
    params = [node.real(name) for name in names if node.has(name)]
    return _activated(node, import_gemm(node), params)


def import_fused_conv(node: NodeContext) -> SSAValue:
    """Import FusedConv: a convolution, an optional addend and an activation."""
    y = import_conv(node)
    if (addend := node.optional(3)) is not None:
        y = node.builder.binary("add", y, addend)
    return _activated(node, y, node.reals("activation_params") or ())


def _activated(node: NodeContext, x: SSAValue, params: Sequence[float]) -> SSAValue:
    """Apply the activation that the node names, if it names one."""
    name = node.text("activation", "").lower()
    if not name:
        return x
    if name == "clip" and len(params) == 2:
        return node.add(nn.ClipOp(x, *params))
    if name not in FUNCTIONS:
        node.refuse(f"the activation '{name}' with {len(params)} parameters is not supported.")
    return activation(name, params)(node.builder, x)


def import_nhwc_conv(node: NodeContext) -> Results:
    """Import NhwcConv: the channels of its weights come last, too."""
    node.check_rank(1, 4, 4)
    node.replace(1, node.builder.transpose(node.input(1), (0, 3, 1, 2)))
    return channels_last(import_conv, 0)(node)


def import_bias_gelu(node: NodeContext) -> SSAValue:
    """Import BiasGelu: the exact Gelu of a sum."""
    return node.builder.unary("gelu", with_bias(node, node.input(0), 1))


def import_fast_gelu(node: NodeContext) -> SSAValue:
    """Import FastGelu: the tanh approximation of Gelu of a sum."""
    return node.builder.unary("gelu_tanh", with_bias(node, node.input(0), 1))


def import_quick_gelu(node: NodeContext) -> SSAValue:
    """Import QuickGelu: x * sigmoid(alpha * x)."""
    return node.builder.unary("swish", node.input(0), node.real("alpha", 1.702))


def import_bias_add(node: NodeContext) -> SSAValue:
    """Import BiasAdd: the sum of three tensors."""
    return with_bias(node, with_bias(node, node.input(0), 1), 2)


def import_bias_split_gelu(node: NodeContext) -> SSAValue:
    """Import BiasSplitGelu: half of a sum times the Gelu of the other half."""
    builder, total = node.builder, with_bias(node, node.input(0), 1)
    axis, width = node.rank() - 1, shape_of(total)[-1]
    if width % 2:
        node.refuse(f"the {width} elements of its last dimension cannot be halved.")
    half = width // 2
    gate = builder.unary("gelu", builder.slice(total, axis, half, half))
    return builder.binary("mul", builder.slice(total, axis, 0, half), gate)


def with_bias(node: NodeContext, x: SSAValue, index: int) -> SSAValue:
    """Add the optional input at `index` to `x`."""
    bias = node.optional(index)
    return x if bias is None else node.builder.binary("add", x, bias)


TABLE: Table = {
    "BiasAdd": {1: import_bias_add},
    "BiasGelu": {1: import_bias_gelu},
    "BiasSplitGelu": {1: import_bias_split_gelu},
    "FastGelu": {1: import_fast_gelu},
    "FusedConv": {1: import_fused_conv},
    "FusedGemm": {1: import_fused_gemm},
    "FusedMatMul": {1: import_fused_matmul},
    "Gelu": {1: unary("gelu")},
    "NhwcConv": {1: import_nhwc_conv},
    "NhwcFusedConv": {1: channels_last(import_fused_conv, 0, 3)},
    "QuickGelu": {1: import_quick_gelu},
    "TransposeMatMul": {1: import_fused_matmul},
}
