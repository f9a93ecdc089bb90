"""Transposition of operands of matrix products, for contiguous rows in memory."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...dialects import nn
from ...dialects.cl import target_of
from ...machine.core import L1_WAY_BYTES
from .rewriting import in_kernel, replace, rewrite_networks

_LEAST_COLUMNS = 128
"""Fewer columns of a product do not read its left operand often enough."""


class SplitRightTranspose(RewritePattern):
    """matmul(a, b^T) -> matmul(a, transpose(b)) for a computed b."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.MatmulOp, rewriter: PatternRewriter, /) -> None:
        if in_kernel(op) or op.transpose_b is None or isinstance(op.b.owner, nn.ConstantOp):
            return
        _split(op, rewriter, op.a, _transposed(op.b))


class SplitLeftTranspose(RewritePattern):
    """matmul(a^T, b) -> matmul(transpose(a), b) for a computed a whose rows share sets of a cache.

    A tile of the product reads a few elements of many rows of a, whose lines replace each other.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.MatmulOp, rewriter: PatternRewriter, /) -> None:
        if in_kernel(op) or op.transpose_a is None or isinstance(op.a.owner, nn.ConstantOp):
            return
        element = nn.numpy_dtype(nn.tensor_type(op.a).element_type)
        row_bytes = nn.shape_of(op.a)[-1] * element.itemsize
        if row_bytes % L1_WAY_BYTES == 0 and nn.shape_of(op.result)[-1] >= _LEAST_COLUMNS:
            _split(op, rewriter, _transposed(op.a), op.b)


def _transposed(value: SSAValue) -> nn.TransposeOp:
    rank = len(nn.shape_of(value))
    return nn.TransposeOp(value, (*range(rank - 2), rank - 1, rank - 2))


def _split(
    op: nn.MatmulOp,
    rewriter: PatternRewriter,
    a: SSAValue | nn.TransposeOp,
    b: SSAValue | nn.TransposeOp,
) -> None:
    """Replace a product by one of these operands, of which one is transposed before."""
    product = nn.MatmulOp(
        SSAValue.get(a),
        SSAValue.get(b),
        op.transpose_a is not None and isinstance(a, SSAValue),
        op.transpose_b is not None and isinstance(b, SSAValue),
        accumulate_half=op.accumulate is not None,
    )
    new = [each for each in (a, b) if isinstance(each, nn.TransposeOp)]
    replace(rewriter, op, *new, product)


class NNSplitTransposesPass(ModulePass):
    """Move the transposition of a computed operand out of `nn.matmul`.

    On a GPU, a tile of the product reads vectors along the rows of the right operand. Writing the
    operand in that order costs little, since the product then reads it once for each of its rows.
    Constants keep their flag: the schedule transposes them at compile time. So do operands on CPUs,
    where the schedule copies the part that a work-item needs, or walks its rows; except for left
    operands whose rows are a multiple of 4096 bytes apart, and so replace each other in a cache.
    """

    name = "nn-split-transposes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        is_cpu = target_of(op).device.device_type == "cpu"
        rewrite_networks(op, SplitLeftTranspose() if is_cpu else SplitRightTranspose())
