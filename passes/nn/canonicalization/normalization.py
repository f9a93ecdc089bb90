"""Recognition of normalisations that exporters spell out as chains of operations."""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose, prod

from xdsl.ir import Attribute, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....dialects import nn
from ....dialects.nn import BinaryKind, ReduceKind, UnaryKind, floats, ints, shape_of
from ..rewriting import replace, splat_of


@dataclass
class _Normalized:
    """A match of d / sqrt(mean(d * d) + epsilon), where d is x, or x - mean(x) if `centred`."""

    x: SSAValue
    axis: int
    epsilon: float
    centred: bool


def _binary(value: SSAValue, kind: BinaryKind) -> nn.BinaryOp | None:
    """Return the operation that computes `value` if it is a binary of this kind, else None."""
    owner = value.owner
    return owner if isinstance(owner, nn.BinaryOp) and owner.kind.data is kind else None


def _mean(value: SSAValue) -> nn.ReduceOp | None:
    """Return the mean over trailing dimensions that computes `value`, else None."""
    owner = value.owner
    if not isinstance(owner, nn.ReduceOp) or owner.kind.data is not ReduceKind.MEAN:
        return None
    axes, rank = ints(owner.axes), len(shape_of(owner.x))
    trailing = bool(axes) and axes == tuple(range(axes[0], rank))
    return owner if trailing and owner.keepdims is not None else None


def _divided_by_root(value: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    """Return the d and v of d / sqrt(v) or d * rsqrt(v), else None."""
    if quotient := _binary(value, BinaryKind.DIV):
        root = quotient.b.owner
        if isinstance(root, nn.UnaryOp) and root.kind.data is UnaryKind.SQRT:
            return quotient.a, root.x
    if product := _binary(value, BinaryKind.MUL):
        for d, r in ((product.a, product.b), (product.b, product.a)):
            if isinstance(r.owner, nn.UnaryOp) and r.owner.kind.data is UnaryKind.RSQRT:
                return d, r.owner.x
    return None


def _normalized(value: SSAValue) -> _Normalized | None:
    """Match d / sqrt(mean(d * d) + epsilon), where d may be x - mean(x)."""
    if (parts := _divided_by_root(value)) is None:
        return None
    d, variance = parts
    shifted = _binary(variance, BinaryKind.ADD)
    epsilon = None if shifted is None else splat_of(shifted.b)
    mean = None if shifted is None else _mean(shifted.a)
    square = None if mean is None else _binary(mean.x, BinaryKind.MUL)
    if epsilon is None or mean is None or square is None or not square.a is square.b is d:
        return None
    axis = ints(mean.axes)[0]
    if difference := _binary(d, BinaryKind.SUB):
        centre = _mean(difference.b)
        if centre is not None and centre.x is difference.a and centre.axes == mean.axes:
            return _Normalized(difference.a, axis, epsilon, True)
    return _Normalized(d, axis, epsilon, False)


class ScaledNorm(RewritePattern):
    """A normalised tensor times a scale of the normalised shape is a layer_norm or rms_norm."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        if op.kind.data is not BinaryKind.MUL:
            return
        for value, scale in ((op.a, op.b), (op.b, op.a)):
            norm = _normalized(value)
            if norm is None or shape_of(scale) != shape_of(norm.x)[norm.axis :]:
                continue
            kind = nn.LayerNormOp if norm.centred else nn.RmsNormOp
            replace(rewriter, op, kind(norm.x, scale, axis=norm.axis, epsilon=norm.epsilon))
            return


class ShiftedNorm(RewritePattern):
    """A tensor of the normalised shape, added to a layer_norm without bias, becomes its bias."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        if op.kind.data is not BinaryKind.ADD:
            return
        for value, bias in ((op.a, op.b), (op.b, op.a)):
            norm = value.owner
            if not isinstance(norm, nn.LayerNormOp) or norm.bias is not None:
                continue
            (axis,) = ints(norm.axis)
            if value.has_one_use() and shape_of(bias) == shape_of(value)[axis:]:
                (epsilon,) = floats(norm.epsilon)
                replace(rewriter, op, nn.LayerNormOp(norm.x, norm.scale, bias, axis, epsilon))
                return


class Mean(RewritePattern):
    """A sum divided by the number of its terms is a mean."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        total = op.a.owner
        if not isinstance(total, nn.ReduceOp) or total.kind.data is not ReduceKind.SUM:
            return
        number, axes = splat_of(op.b), ints(total.axes)
        count = prod(shape_of(total.x)[axis] for axis in axes)
        if not number or op.a.type != op.result.type or not nn.is_float(_element(op.a)):
            return
        kind = op.kind.data
        divides = kind is BinaryKind.DIV and number == count
        if divides or (kind is BinaryKind.MUL and isclose(number * count, 1, rel_tol=1e-6)):
            keepdims = total.keepdims is not None
            replace(rewriter, op, nn.ReduceOp(total.x, ReduceKind.MEAN, axes, keepdims))


def _element(value: SSAValue) -> Attribute:
    return nn.tensor_type(value).element_type


class Softmax(RewritePattern):
    """exp(x - max(x)) divided by its sum, along one axis, is a softmax."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.BinaryOp, rewriter: PatternRewriter, /) -> None:
        total, exponential = _reduced(op.b, ReduceKind.SUM), op.a.owner
        if op.kind.data is not BinaryKind.DIV or total is None or total.x is not op.a:
            return
        if not isinstance(exponential, nn.UnaryOp) or exponential.kind.data is not UnaryKind.EXP:
            return
        difference = _binary(exponential.x, BinaryKind.SUB)
        largest = None if difference is None else _reduced(difference.b, ReduceKind.MAX)
        if difference is None or largest is None or largest.x is not difference.a:
            return
        axes = ints(total.axes)
        if ints(largest.axes) == axes and len(axes) == 1:
            replace(rewriter, op, nn.SoftmaxOp(difference.a, axes[0]))


def _reduced(value: SSAValue, kind: ReduceKind) -> nn.ReduceOp | None:
    """Return the reduction of this kind that computes `value` if it keeps all axes, else None."""
    owner = value.owner
    if isinstance(owner, nn.ReduceOp) and owner.kind.data is kind and owner.keepdims is not None:
        return owner
    return None


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {
    nn.BinaryOp.name: (Mean(), Softmax(), ScaledNorm(), ShiftedNorm()),
}
