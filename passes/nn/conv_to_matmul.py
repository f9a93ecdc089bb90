"""Compute convolutions of single points as matrix multiplications."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...context import weights_of
from ...decisions import Choices, SiteKind, deciding
from ...dialects import nn
from ...dialects.nn import ints, shape_of
from ...weights import Weights
from ..locations import node_name
from .rewriting import in_kernel, replace, rewrite_networks
from .structure import structure_digest

_DIRECT, _MATMUL = "direct", "matmul"


@dataclass(frozen=True)
class NNConvToMatmulPass(ModulePass):
    """Turn a 1x1 convolution without padding and groups into a matmul.

    w [O, C] times x [N, C, H*W] gives [N, O, H*W], and no element moves. A strided convolution
    first slices the elements that it reads, which are few compared with its products. A choice can
    demand the direct form.
    """

    name: ClassVar[str] = "nn-conv-to-matmul"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        with deciding(op, ctx) as choices:
            rewrite_networks(op, PointwiseConv(weights_of(ctx, op), choices))


@dataclass
class PointwiseConv(RewritePattern):
    """conv -> slice if strided, reshape, matmul, broadcast add of the bias, reshape."""

    weights: Weights | None
    choices: Choices | None = None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.ConvOp, rewriter: PatternRewriter, /) -> None:
        if in_kernel(op) or {*shape_of(op.w)[2:], *ints(op.groups)} != {1} or any(ints(op.pads)):
            return
        if not self._multiplies(op):
            return
        n, c = shape_of(op.x)[:2]
        o, *spatial = shape_of(op.result)[1:]
        new_ops: list[Operation] = []
        taken = op.x
        if set(ints(op.strides)) != {1}:
            steps = (1, 1, *ints(op.strides))
            slice_ = nn.SliceOp(taken, [0] * len(steps), (n, c, *spatial), steps)
            new_ops.append(slice_)
            taken = slice_.result
        w = self._reshaped(op.w, (o, c))
        x = nn.ReshapeOp(taken, (n, c, nn.count(spatial)))
        half = op.accumulate is not None
        product = nn.MatmulOp(w.results[0], x.result, accumulate_half=half)
        new_ops += [w, x, product]
        value = product.result
        if op.b is not None:
            b = self._reshaped(op.b, (o, 1))
            add = nn.BinaryOp(value, b.results[0], nn.BinaryKind.ADD)
            new_ops += [b, add]
            value = add.result
        replace(rewriter, op, *new_ops, nn.ReshapeOp(value, shape_of(op.result)))

    def _multiplies(self, op: nn.ConvOp) -> bool:
        """Return whether the form of a convolution is a product, as it is unless demanded."""
        if self.choices is None:
            return True
        site = self.choices.next_site(SiteKind.FORM, structure_digest(op.operands, [op]))
        words = (_DIRECT, _MATMUL)
        return self.choices.decide(site, _MATMUL, words, node_name(op)) == _MATMUL

    def _reshaped(self, value: SSAValue, shape: tuple[int, ...]) -> Operation:
        """Return the value in another shape; a constant stays a constant."""
        array = nn.constant_value(value, self.weights)
        if array is None:
            return nn.ReshapeOp(value, shape)
        return nn.ConstantOp.from_array(array.reshape(shape), self.weights, nn.hint_of(value))
