"""Transposition of right operands of matrix products, for contiguous rows in memory."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...dialects import nn
from ...dialects.cl import target_of
from .rewriting import in_kernel, replace, rewrite_networks


class SplitRightTranspose(RewritePattern):
    """matmul(a, b^T) -> matmul(a, transpose(b)) for a computed b."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.MatmulOp, rewriter: PatternRewriter, /) -> None:
        if in_kernel(op) or op.transpose_b is None or isinstance(op.b.owner, nn.ConstantOp):
            return
        rank = len(nn.shape_of(op.b))
        transpose = nn.TransposeOp(op.b, (*range(rank - 2), rank - 1, rank - 2))
        product = nn.MatmulOp(
            op.a,
            transpose.result,
            op.transpose_a is not None,
            accumulate_half=op.accumulate is not None,
        )
        replace(rewriter, op, transpose, product)


class NNSplitTransposesPass(ModulePass):
    """Move the transposition of a computed right operand out of `nn.matmul`.

    A tile of the product reads vectors along the operand's rows. Writing the operand in that order
    costs little, since the product then reads it once for each of its rows. Constants keep their
    flag: the schedule transposes them at compile time. So do operands on CPUs, where the schedule
    copies the part that a work-item needs, or walks its rows.
    """

    name = "nn-split-transposes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if target_of(op).device.device_type == "cpu":
            return
        rewrite_networks(op, SplitRightTranspose())
