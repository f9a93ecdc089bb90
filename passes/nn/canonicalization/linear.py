"""Transposes that become flags of a matrix multiplication."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....dialects import nn
from ....dialects.nn import ints
from ..rewriting import replace


def _untransposed(value: SSAValue) -> SSAValue | None:
    """Return the operand of a transpose of the last two dimensions, else None."""
    owner = value.owner
    if not isinstance(owner, nn.TransposeOp):
        return None
    perm = ints(owner.perm)
    swap = (*range(len(perm) - 2), len(perm) - 1, len(perm) - 2)
    return owner.x if perm == swap else None


class TransposeIntoMatmul(RewritePattern):
    """A transpose of the last two dimensions of an operand becomes a flag."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.MatmulOp, rewriter: PatternRewriter, /) -> None:
        a, b = _untransposed(op.a), _untransposed(op.b)
        if a is None and b is None:
            return
        new = nn.MatmulOp(
            op.a if a is None else a,
            op.b if b is None else b,
            transpose_a=(op.transpose_a is not None) != (a is not None),
            transpose_b=(op.transpose_b is not None) != (b is not None),
            accumulate_half=op.accumulate is not None,
        )
        replace(rewriter, op, new)


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {nn.MatmulOp.name: (TransposeIntoMatmul(),)}
