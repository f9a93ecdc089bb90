"""Operators of the domain com.microsoft that exporters and model optimisers emit."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....dialects import nn
from ..node import NodeContext, Results, Table
from .elementwise import unary


def import_fused_matmul(node: NodeContext) -> SSAValue:
    """Import FusedMatMul: a scaled product of optionally transposed matrices."""
    if node.flag("transBatchA") or node.flag("transBatchB"):
        node.refuse("transposes batch dimensions, which is not supported.")
    if node.rank(0) < 2 or node.rank(1) < 2:
        node.refuse("its inputs must be matrices.")
    product = node.builder.matmul(
        node.input(0), node.input(1), node.flag("transA"), node.flag("transB")
    )
    alpha = node.real("alpha", 1.0)
    return product if alpha == 1.0 else node.builder.binary("mul", product, alpha)


def import_bias_gelu(node: NodeContext) -> SSAValue:
    """Import BiasGelu: the exact Gelu of a sum."""
    return node.builder.unary("gelu", _with_bias(node, node.input(0), 1))


def import_fast_gelu(node: NodeContext) -> SSAValue:
    """Import FastGelu: the tanh approximation of Gelu of a sum."""
    return node.builder.unary("gelu_tanh", _with_bias(node, node.input(0), 1))


def import_quick_gelu(node: NodeContext) -> SSAValue:
    """Import QuickGelu: x * sigmoid(alpha * x)."""
    return node.builder.unary("swish", node.input(0), node.real("alpha", 1.702))


def _with_bias(node: NodeContext, x: SSAValue, index: int) -> SSAValue:
    bias = node.optional(index)
    return x if bias is None else node.builder.binary("add", x, bias)


def import_skip_layer_norm(node: NodeContext) -> Results:
    """Import SkipLayerNormalization: a layer normalisation of a sum; the sum is output 3."""
    total = node.builder.binary("add", node.input(0), node.input(1))
    total = _with_bias(node, total, 4)
    epsilon = node.real("epsilon", 1e-12)
    y = node.add(nn.LayerNormOp(total, node.input(2), node.optional(3), -1, epsilon))
    return [y, None, None, total]


def import_skip_rms_norm(node: NodeContext) -> Results:
    """Import SkipSimplifiedLayerNormalization: an RMS normalisation of a sum, which is output 3."""
    total = node.builder.binary("add", node.input(0), node.input(1))
    total = _with_bias(node, total, 3)
    y = node.add(nn.RmsNormOp(total, node.input(2), -1, node.real("epsilon", 1e-12)))
    return [y, None, None, total]


TABLE: Table = {
    "BiasGelu": {1: import_bias_gelu},
    "FastGelu": {1: import_fast_gelu},
    "FusedMatMul": {1: import_fused_matmul},
    "Gelu": {1: unary("gelu")},
    "QuickGelu": {1: import_quick_gelu},
    "SkipLayerNormalization": {1: import_skip_layer_norm},
    "SkipSimplifiedLayerNormalization": {1: import_skip_rms_norm},
}
