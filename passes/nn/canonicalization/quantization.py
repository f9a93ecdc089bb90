"""Quantise and dequantise pairs that cancel out."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import f16
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....dialects import nn
from ..rewriting import forward


def _is_same(a: SSAValue, b: SSAValue) -> bool:
    """Return whether two values are the same, or equal inline constants of one type."""
    if a is b:
        return True
    first, second = nn.constant_value(a), nn.constant_value(b)
    if first is None or second is None or a.type != b.type:
        return False
    return np.array_equal(first, second)


class QuantizeOfDequantize(RewritePattern):
    """quantize(dequantize(q)) is q if scale and zero point are equal.

    (n * scale) / scale differs by less than half a step from n, which has at most 17 bits, so it
    rounds to n. Half precision is too short for that.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.QuantizeOp, rewriter: PatternRewriter, /) -> None:
        inner = op.x.owner
        if not isinstance(inner, nn.DequantizeOp) or inner.q.type != op.result.type:
            return
        is_half = nn.tensor_type(op.scale).element_type == f16
        pairs = ((inner.scale, op.scale), (inner.zero_point, op.zero_point))
        if not is_half and all(_is_same(a, b) for a, b in pairs):
            forward(rewriter, op, inner.q)


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {nn.QuantizeOp.name: (QuantizeOfDequantize(),)}
