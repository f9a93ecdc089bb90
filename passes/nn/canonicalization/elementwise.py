"""Elementwise identities: merge bounds, drop neutral constants, move constants to the right."""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....dialects import nn
from ....dialects.nn import BinaryKind, UnaryKind
from ..rewriting import forward, replace, splat_of

Number = int | float

INVOLUTIONS = {UnaryKind.NEG, UnaryKind.LOGICAL_NOT, UnaryKind.BITWISE_NOT}
"""Functions that are their own inverse."""

IDEMPOTENT = {
    UnaryKind.ABS,
    UnaryKind.SIGN,
    UnaryKind.FLOOR,
    UnaryKind.CEIL,
    UnaryKind.ROUND,
    UnaryKind.RELU,
}
"""Functions f with f(f(x)) = f(x)."""

COMMUTATIVE = {
    BinaryKind.ADD,
    BinaryKind.MUL,
    BinaryKind.MIN,
    BinaryKind.MAX,
    BinaryKind.AND,
    BinaryKind.OR,
    BinaryKind.XOR,
    BinaryKind.BIT_AND,
    BinaryKind.BIT_OR,
    BinaryKind.BIT_XOR,
}
"""Functions with f(a, b) = f(b, a)."""

RIGHT_NEUTRAL: dict[BinaryKind, Number] = {
    BinaryKind.ADD: 0,
    BinaryKind.SUB: 0,
    BinaryKind.MUL: 1,
    BinaryKind.DIV: 1,
    BinaryKind.POW: 1,
    BinaryKind.AND: True,
    BinaryKind.OR: False,
    BinaryKind.XOR: False,
    BinaryKind.BIT_OR: 0,
    BinaryKind.BIT_XOR: 0,
    BinaryKind.SHL: 0,
    BinaryKind.SHR: 0,
}
"""The right operand c with f(x, c) = x."""

POWERS: dict[Number, UnaryKind] = {
    0.5: UnaryKind.SQRT,
    -0.5: UnaryKind.RSQRT,
    -1: UnaryKind.RECIPROCAL,
}
"""Exponents for which a unary function exists."""


class UnaryOfUnary(RewritePattern):
    """-(-x) is x, relu(relu(x)) is relu(x), 1/sqrt(x) is rsqrt(x)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.UnaryOp, rewriter: PatternRewriter, /) -> None:
        inner = op.x.owner
        if not isinstance(inner, nn.UnaryOp):
            return
        kinds = (op.kind.data, inner.kind.data)
        if kinds == (UnaryKind.RECIPROCAL, UnaryKind.SQRT):
            replace(rewriter, op, nn.UnaryOp(inner.x, UnaryKind.RSQRT))
        elif kinds[0] is kinds[1] and kinds[0] in INVOLUTIONS:
            forward(rewriter, op, inner.x)
        elif kinds[0] is kinds[1] and kinds[0] in IDEMPOTENT:
            forward(rewriter, op, op.x)


class ReluOfClip(RewritePattern):
    """relu(clip(x)) is a clip whose bounds are not negative."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.UnaryOp, rewriter: PatternRewriter, /) -> None:
        inner = op.x.owner
        if op.kind.data is not UnaryKind.RELU or not isinstance(inner, nn.ClipOp):
            return
        low, high = inner.bounds()
        high = None if high is None else max(high, 0)
        replace(rewriter, op, nn.ClipOp(inner.x, max(low or 0, 0), high))


class ClipOfClip(RewritePattern):
    """A clip of a clip is one clip; a relu before a clip counts as clip(x, 0).

    min(max(min(max(x, l), h), m), k) = min(max(x, max(l, m)), min(max(h, m), k)).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.ClipOp, rewriter: PatternRewriter, /) -> None:
        inner = op.x.owner
        if isinstance(inner, nn.ClipOp):
            low1, high1 = inner.bounds()
        elif isinstance(inner, nn.UnaryOp) and inner.kind.data is UnaryKind.RELU:
            low1, high1 = 0, None
        else:
            return
        low2, high2 = op.bounds()
        if high1 is not None and low2 is not None:
            high1 = max(high1, low2)
        replace(
            rewriter, op, nn.ClipOp(inner.x, _tighter(max, low1, low2), _tighter(min, high1, high2))
        )


def _tighter(
    choose: Callable[[Number, Number], Number], a: Number | None, b: Number | None
) -> Number | None:
    """Return `choose(a, b)`, where None is no bound."""
    if a is None or b is None:
        return b if a is None else a
    return choose(a, b)


class SimpleClip(RewritePattern):
    """A clip without finite bounds is its operand; a clip whose only bound is max(x, 0), a relu."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.ClipOp, rewriter: PatternRewriter, /) -> None:
        low, high = op.bounds()
        finite_low = None if low == -math.inf else low
        finite_high = None if high == math.inf else high
        element_type = nn.tensor_type(op.x).element_type
        if finite_low is None and finite_high is None:
            forward(rewriter, op, op.x)
        elif finite_low == 0 and finite_high is None and not nn.is_unsigned(element_type):
            replace(rewriter, op, nn.UnaryOp(op.x, UnaryKind.RELU))
        elif (finite_low, finite_high) != (low, high):
            replace(rewriter, op, nn.ClipOp(op.x, finite_low, finite_high))


class ConstantToTheRight(RewritePattern):
    """Constants of commutative functions move to the right."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        left, right = (isinstance(v.owner, nn.ConstantOp) for v in (op.a, op.b))
        if op.kind.data in COMMUTATIVE and left and not right:
            replace(rewriter, op, nn.BinaryOp(op.b, op.a, op.kind.data))


class NeutralOperand(RewritePattern):
    """x + 0, x * 1 and the like are x, unless the constant broadcasts x to a larger shape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        neutral = RIGHT_NEUTRAL.get(op.kind.data)
        if neutral is not None and op.a.type == op.result.type and splat_of(op.b) == neutral:
            forward(rewriter, op, op.a)


class SimplePower(RewritePattern):
    """x ** 2 is x * x, x ** 3 is x * x * x, and some powers are unary functions."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        if op.kind.data is not BinaryKind.POW or op.a.type != op.result.type:
            return
        exponent = splat_of(op.b)
        is_float = nn.is_float(nn.tensor_type(op.a).element_type)
        if exponent in (2, 3):
            powers = [nn.BinaryOp(op.a, op.a, BinaryKind.MUL)]
            if exponent == 3:
                powers.append(nn.BinaryOp(powers[0].result, op.a, BinaryKind.MUL))
            replace(rewriter, op, *powers)
        elif exponent in POWERS and is_float:
            replace(rewriter, op, nn.UnaryOp(op.a, POWERS[exponent]))


class Reciprocal(RewritePattern):
    """1 / x is reciprocal(x)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        is_float = nn.is_float(nn.tensor_type(op.a).element_type)
        same = op.b.type == op.result.type
        if op.kind.data is BinaryKind.DIV and same and is_float and splat_of(op.a) == 1:
            replace(rewriter, op, nn.UnaryOp(op.b, UnaryKind.RECIPROCAL))


class BoundToClip(RewritePattern):
    """max(x, c) and min(x, c) are clips."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        if op.kind.data not in (BinaryKind.MIN, BinaryKind.MAX) or op.a.type != op.result.type:
            return
        bound = splat_of(op.b)
        if bound is None or math.isnan(bound):
            return
        is_low = op.kind.data is BinaryKind.MAX
        clip = nn.ClipOp(op.a, bound if is_low else None, None if is_low else bound)
        replace(rewriter, op, clip)


class PreluToLeakyRelu(RewritePattern):
    """prelu with one slope is leaky_relu."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        if op.kind.data is not BinaryKind.PRELU or op.a.type != op.result.type:
            return
        slope = splat_of(op.b)
        if slope is not None and nn.is_float(nn.tensor_type(op.a).element_type):
            replace(rewriter, op, nn.UnaryOp(op.a, UnaryKind.LEAKY_RELU, (slope,)))


class CastToSame(RewritePattern):
    """A cast to the operand's own type is the operand."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.CastOp, rewriter: PatternRewriter, /) -> None:
        if op.x.type == op.result.type:
            forward(rewriter, op, op.x)


class WhereOfConstant(RewritePattern):
    """A where with a constant condition is the selected operand."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.WhereOp, rewriter: PatternRewriter, /) -> None:
        condition = splat_of(op.condition)
        if condition is None:
            return
        chosen = op.a if condition else op.b
        if chosen.type == op.result.type:
            forward(rewriter, op, chosen)
        else:
            replace(rewriter, op, nn.ExpandOp(chosen, nn.shape_of(op.result)))


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {
    nn.UnaryOp.name: (UnaryOfUnary(), ReluOfClip()),
    nn.ClipOp.name: (SimpleClip(), ClipOfClip()),
    nn.BinaryOp.name: (
        ConstantToTheRight(),
        NeutralOperand(),
        SimplePower(),
        Reciprocal(),
        BoundToClip(),
        PreluToLeakyRelu(),
    ),
    nn.CastOp.name: (CastToSame(),),
    nn.WhereOp.name: (WhereOfConstant(),),
}
