"""Recognition of activation functions that exporters spell out as chains of operations."""

from __future__ import annotations

import math

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....dialects import nn
from ....dialects.nn import BinaryKind, UnaryKind
from ..rewriting import factors, is_near, replace, splat_of


def _unary(value: SSAValue, kind: UnaryKind) -> nn.UnaryOp | None:
    """Return the operation that computes `value` if it is a unary of this kind, else None."""
    owner = value.owner
    return owner if isinstance(owner, nn.UnaryOp) and owner.kind.data is kind else None


def _plus(value: SSAValue, constant: float) -> SSAValue | None:
    """Return the x of `x + constant`, else None."""
    owner = value.owner
    if not isinstance(owner, nn.BinaryOp) or owner.kind.data is not BinaryKind.ADD:
        return None
    for x, c in ((owner.a, owner.b), (owner.b, owner.a)):
        if is_near(c, constant):
            return x
    return None


def _divided(value: SSAValue, divisor: float) -> SSAValue | None:
    """Return the x of `x / divisor` or `x * (1 / divisor)`, else None."""
    owner = value.owner
    if not isinstance(owner, nn.BinaryOp):
        return None
    if owner.kind.data is BinaryKind.DIV and is_near(owner.b, divisor):
        return owner.a
    if owner.kind.data is BinaryKind.MUL:
        for x, c in ((owner.a, owner.b), (owner.b, owner.a)):
            if is_near(c, 1 / divisor):
                return x
    return None


def _without(values: list[SSAValue], constant: float) -> list[SSAValue] | None:
    """Return the factors without the first that equals `constant`; None if none does."""
    for i, value in enumerate(values):
        if is_near(value, constant):
            return values[:i] + values[i + 1 :]
    return None


class Gelu(RewritePattern):
    """x * 0.5 * (1 + erf(x / sqrt(2))), or with tanh in place of erf; factors in any order."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        if op.kind.data is not BinaryKind.MUL:
            return
        for gate in factors(op.result):
            inner = _plus(gate, 1)
            if inner is None:
                continue
            if erf := _unary(inner, UnaryKind.ERF):
                x, kind = _divided(erf.x, math.sqrt(2)), UnaryKind.GELU
            elif tanh := _unary(inner, UnaryKind.TANH):
                x, kind = _cubic_argument(tanh.x), UnaryKind.GELU_TANH
            else:
                continue
            if x is None or x.type != op.result.type:
                continue
            rest = _without(list(factors(op.result, x)), 0.5)
            if rest in ([x, gate], [gate, x]):
                replace(rewriter, op, nn.UnaryOp(x, kind))
                return


def _cubic_argument(value: SSAValue) -> SSAValue | None:
    """Return the x of sqrt(2/pi) * (x + 0.044715 * x**3), else None.

    Also accept the form sqrt(2/pi) * x * (1 + 0.044715 * x**2).
    """
    rest = _without(list(factors(value)), math.sqrt(2 / math.pi)) or []
    if len(rest) == 1 and isinstance(add := rest[0].owner, nn.BinaryOp):
        is_sum = add.kind.data is BinaryKind.ADD
        for x, term in ((add.a, add.b), (add.b, add.a)):
            if is_sum and _is_cubic_term(term, x, 3):
                return x
    if len(rest) == 2:
        for x, gate in (rest, rest[::-1]):
            term = _plus(gate, 1)
            if term is not None and _is_cubic_term(term, x, 2):
                return x
    return None


def _is_cubic_term(value: SSAValue, x: SSAValue, power: int) -> bool:
    return _without(list(factors(value, x)), 0.044715) == [x] * power


class GatedActivation(RewritePattern):
    """x * sigmoid(x) is silu, x * hard_sigmoid(x) is hard_swish, x * tanh(softplus(x)) is mish."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        if op.kind.data is not BinaryKind.MUL:
            return
        for x, gate in ((op.a, op.b), (op.b, op.a)):
            owner = gate.owner
            if not isinstance(owner, nn.UnaryOp):
                continue
            new = _gated(x, owner)
            if new is not None and new.result.type == op.result.type:
                replace(rewriter, op, new)
                return


def _gated(x: SSAValue, gate: nn.UnaryOp) -> nn.UnaryOp | None:
    """Return the activation that equals `x * gate`, else None."""
    match gate.kind.data:
        case UnaryKind.SIGMOID if gate.x is x:
            return nn.UnaryOp(x, UnaryKind.SILU)
        case UnaryKind.SIGMOID:
            owner = gate.x.owner
            if isinstance(owner, nn.BinaryOp) and owner.kind.data is BinaryKind.MUL:
                alpha = splat_of(owner.b)
                if owner.a is x and alpha is not None:
                    return nn.UnaryOp(x, UnaryKind.SWISH, (alpha,))
        case UnaryKind.HARD_SIGMOID if gate.x is x and gate.params is not None:
            alpha, beta = nn.floats(gate.params)
            if math.isclose(alpha, 1 / 6, rel_tol=1e-5) and beta == 0.5:
                return nn.UnaryOp(x, UnaryKind.HARD_SWISH)
        case UnaryKind.TANH:
            softplus = _unary(gate.x, UnaryKind.SOFTPLUS)
            if softplus is not None and softplus.x is x:
                return nn.UnaryOp(x, UnaryKind.MISH)
        case _:
            pass
    return None


class HardSigmoid(RewritePattern):
    """clip(x + 3, 0, 6) / 6 is hard_sigmoid, x * clip(x + 3, 0, 6) / 6 is hard_swish."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        dividend = _divided(op.result, 6)
        if dividend is None or dividend.type != op.result.type:
            return
        x = _shifted_clip(dividend)
        if x is not None:
            replace(rewriter, op, nn.UnaryOp(x, UnaryKind.HARD_SIGMOID, (1 / 6, 0.5)))
            return
        leaves = list(factors(dividend))
        for x, clip in (leaves, leaves[::-1]) if len(leaves) == 2 else ():
            if _shifted_clip(clip) is x:
                replace(rewriter, op, nn.UnaryOp(x, UnaryKind.HARD_SWISH))
                return


def _shifted_clip(value: SSAValue) -> SSAValue | None:
    """Return the x of clip(x + 3, 0, 6), else None."""
    owner = value.owner
    if not isinstance(owner, nn.ClipOp) or owner.bounds() != (0, 6):
        return None
    x = _plus(owner.x, 3)
    return x if x is not None and x.type == value.type else None


class Sigmoid(RewritePattern):
    """1 / (1 + exp(-x)) is sigmoid, log(1 + exp(x)) is softplus."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.UnaryOp, rewriter: PatternRewriter, /) -> None:
        if op.kind.data not in (UnaryKind.RECIPROCAL, UnaryKind.LOG):
            return
        inner = _plus(op.x, 1)
        exp = None if inner is None else _unary(inner, UnaryKind.EXP)
        if exp is None or exp.result.type != op.result.type:
            return
        if op.kind.data is UnaryKind.LOG:
            replace(rewriter, op, nn.UnaryOp(exp.x, UnaryKind.SOFTPLUS))
        elif neg := _unary(exp.x, UnaryKind.NEG):
            replace(rewriter, op, nn.UnaryOp(neg.x, UnaryKind.SIGMOID))


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {
    nn.BinaryOp.name: (Gelu(), HardSigmoid(), GatedActivation()),
    nn.UnaryOp.name: (Sigmoid(),),
}
