"""Fast index expressions for hot loops of passes: `AffineExpr` methods without its type tests.

The classes of expressions are abstract, and a negative `isinstance` takes 0.25 us: the tests in
`replace_dims_and_symbols` and in the operators took 0.1 s on ResNet-50.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

_SUMS = (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul)


def with_dims(expr: AffineExpr, dims: Sequence[AffineExpr]) -> AffineExpr:
    """Return `expr.replace_dims_and_symbols(dims, ())`."""
    kind = type(expr)
    if kind is AffineDimExpr:
        position = cast(AffineDimExpr, expr).position
        return dims[position] if position < len(dims) else expr
    if kind is not AffineBinaryOpExpr:
        return expr
    both = cast(AffineBinaryOpExpr, expr)
    return _binary(both.kind, with_dims(both.lhs, dims), with_dims(both.rhs, dims))


def used_dims(expr: AffineExpr) -> set[int]:
    """Return `expr.used_dims()`."""
    kind = type(expr)
    if kind is AffineDimExpr:
        return {cast(AffineDimExpr, expr).position}
    if kind is not AffineBinaryOpExpr:
        return set()
    both = cast(AffineBinaryOpExpr, expr)
    dims = used_dims(both.lhs)
    return dims if type(both.rhs) is AffineConstantExpr else dims | used_dims(both.rhs)


def _binary(kind: AffineBinaryOpKind, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """Return `AffineExpr.binary(kind, lhs, rhs)`, which simplifies only sums and products."""
    if type(lhs) is not AffineConstantExpr:
        is_constant = type(rhs) is AffineConstantExpr
        if kind not in _SUMS:
            is_plain = is_constant
        elif kind is AffineBinaryOpKind.Add:
            is_plain = not is_constant
        else:
            is_plain = is_constant and type(lhs) is AffineDimExpr and rhs.value != 1
        if is_plain:
            return AffineBinaryOpExpr(kind, lhs, rhs)
    return AffineExpr.binary(kind, lhs, rhs)
