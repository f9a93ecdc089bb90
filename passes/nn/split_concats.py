"""Splitting of concatenations with more operands than a kernel can have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from .fuse import MOST_INPUTS
from .rewriting import in_kernel, replace, rewrite_networks

_PIECE = 64
"""Most operands of one piece."""

_MULTIPLE = 4
"""The length of pieces is a multiple of this, so that single channels fill whole texels."""


def pieces(values: Sequence[SSAValue]) -> Iterator[Sequence[SSAValue]]:
    """Return runs of operands that a kernel can read, nearly equal in length."""
    count = -(-len(values) // _PIECE)
    length = -(-len(values) // (count * _MULTIPLE)) * _MULTIPLE
    return (values[i : i + length] for i in range(0, len(values), length))


class SplitConcat(RewritePattern):
    """concat(a, b, c, ..) -> concat(concat(a, b, ..), concat(c, ..), ..)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.ConcatOp, rewriter: PatternRewriter, /) -> None:
        if in_kernel(op) or len(op.inputs) <= MOST_INPUTS:
            return
        axis = op.axis.value.data
        values: Sequence[SSAValue] = op.inputs
        made: list[nn.ConcatOp] = []
        while len(values) > 1:
            level: list[SSAValue] = []
            for piece in pieces(values):
                if len(piece) > 1:
                    made.append(nn.ConcatOp(piece, axis))
                    piece = made[-1].results
                level += piece
            values = level
        replace(rewriter, op, *made)


class NNSplitConcatsPass(ModulePass):
    """Concatenate in several steps if one kernel would have too many parameters.

    If the operands are contiguous in the result, so are the pieces, and each kernel writes its part
    of the result in place. Otherwise every element is copied once more.
    """

    name = "nn-split-concats"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrite_networks(op, SplitConcat())
