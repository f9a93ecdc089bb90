"""Coordinates of texels that are replaced by one outside of the image where a condition fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ....dialects.tir.affine import bounds_of, linear
from ....dialects.tir.linear import Linear
from ...tir.lowering.space import COMPARISONS
from ...tir.texture.indices import conjuncts


def inside_of(
    value: SSAValue, expr_of: Callable[[SSAValue], AffineExpr | None], extents: list[int | None]
) -> AffineExpr | None:
    """Return a coordinate where it is inside of the image; None if that is unknown.

    `select(0 <= row < 7, 7 * image + row, -1)` is `7 * image + d` for a new dimension d of extent
    7, which is appended to `extents`.
    """
    select = value.owner
    if not isinstance(select, arith.SelectOp):
        return expr_of(value)
    coordinate, outside = expr_of(select.lhs), expr_of(select.rhs)
    if coordinate is None or not isinstance(outside, AffineConstantExpr) or outside.value >= 0:
        return None
    for part, low, high in _ranges(select.cond, expr_of, extents):
        # A sum may hold the limited part itself, or what is left of it after simplification.
        rests = [linear(coordinate + each * -1, extents) for each in (part, _without_mod(part))]
        rest = min(rests, key=lambda form: len(form.terms))
        if len(rest.terms) <= len(linear(coordinate, extents).terms):
            coordinate = rest.expr() + low + AffineDimExpr(len(extents))
            extents.append(max(high - low + 1, 1))
    return coordinate


def _without_mod(expr: AffineExpr) -> AffineExpr:
    """Return a sum with `x - c (x floordiv c)` in place of `x mod c`.

    It cancels against a sum that was simplified to x.
    """
    if not isinstance(expr, AffineBinaryOpExpr):
        return expr
    if expr.kind is AffineBinaryOpKind.Mod:
        return expr.lhs + (expr.lhs // expr.rhs) * expr.rhs * -1
    if expr.kind is AffineBinaryOpKind.Add:
        return _without_mod(expr.lhs) + _without_mod(expr.rhs)
    if expr.kind is AffineBinaryOpKind.Mul:
        return _without_mod(expr.lhs) * expr.rhs
    return expr


def _ranges(
    condition: SSAValue,
    expr_of: Callable[[SSAValue], AffineExpr | None],
    extents: list[int | None],
) -> Iterator[tuple[AffineExpr, int, int]]:
    """Yield the expressions that a condition limits, with their least and greatest values."""
    found: dict[AffineExpr, tuple[int, int]] = {}
    for compare in (each.owner for each in conjuncts(condition)):
        if not isinstance(compare, arith.CmpiOp):
            continue
        row = COMPARISONS.get(compare.predicate.value.data)
        left, right = expr_of(compare.lhs), expr_of(compare.rhs)
        if row is None or left is None or right is None:
            continue
        form = linear(left + right * -1, extents)
        part = Linear(form.terms, 0)
        least, most = bounds_of(part, extents)
        if least is None or most is None:
            continue
        low, high = found.get(part.expr(), (least, most))
        limit, is_below = row[0] - form.constant, row[1]
        high, low = (min(high, limit - 1), low) if is_below else (high, max(low, limit))
        found[part.expr()] = low, high
    for part, (low, high) in found.items():
        yield part, low, high
