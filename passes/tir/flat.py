"""Linear index expressions as factors and a constant: a cheap form for the most common case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from ...dialects.tir.affine import simplify
from ...dialects.tir.expressions import with_dims

Flat = tuple[dict[int, int], int]
"""The factor of each dimension, and the constant."""


def flat(expr: AffineExpr) -> Flat | None:
    """Return `expr` as a linear expression, or None if it contains a division."""
    factors: dict[int, int] = {}
    constant = _collect(expr, 1, factors)
    return None if constant is None else (factors, constant)


def _collect(expr: AffineExpr, factor: int, factors: dict[int, int]) -> int | None:
    """Add the terms of `factor * expr` to `factors` and return its constant."""
    if isinstance(expr, AffineDimExpr):
        factors[expr.position] = factors.get(expr.position, 0) + factor
        return 0
    if isinstance(expr, AffineConstantExpr):
        return factor * expr.value
    if not isinstance(expr, AffineBinaryOpExpr):
        return None
    if expr.kind is AffineBinaryOpKind.Add:
        left = _collect(expr.lhs, factor, factors)
        right = None if left is None else _collect(expr.rhs, factor, factors)
        return None if left is None or right is None else left + right
    if expr.kind is AffineBinaryOpKind.Mul and isinstance(expr.rhs, AffineConstantExpr):
        return _collect(expr.lhs, factor * expr.rhs.value, factors)
    return None


def unflat(factors: Mapping[int, int], constant: int) -> AffineExpr:
    """Return the affine expression of a linear form."""
    total: AffineExpr | None = None
    for dim, factor in factors.items():
        if factor == 0:
            continue
        term: AffineExpr = AffineDimExpr(dim)
        if factor != 1:
            term = AffineBinaryOpExpr(AffineBinaryOpKind.Mul, term, AffineConstantExpr(factor))
        total = term if total is None else AffineBinaryOpExpr(AffineBinaryOpKind.Add, total, term)
    if total is None:
        return AffineConstantExpr(constant)
    if constant:
        shift = AffineConstantExpr(constant)
        total = AffineBinaryOpExpr(AffineBinaryOpKind.Add, total, shift)
    return total


def tidy(expr: AffineExpr, extents: Sequence[int]) -> AffineExpr:
    """Simplify like `simplify`, with a shortcut for linear expressions."""
    form = flat(expr)
    if form is None:
        return simplify(expr, extents)
    factors, constant = form
    return unflat({d: k for d, k in factors.items() if extents[d] != 1}, constant)


def compose(expr: AffineExpr, values: Sequence[AffineExpr]) -> AffineExpr:
    """Return `expr` with each dimension replaced by its value."""
    form = flat(expr)
    forms = None if form is None else {d: flat(values[d]) for d in form[0]}
    if form is None or forms is None:
        return with_dims(expr, values)
    total: dict[int, int] = {}
    constant = form[1]
    for dim, factor in form[0].items():
        value = forms[dim]
        if value is None:
            return with_dims(expr, values)
        constant += factor * value[1]
        for inner, inner_factor in value[0].items():
            total[inner] = total.get(inner, 0) + factor * inner_factor
    return unflat(total, constant)
