"""The fast forms of xDSL's questions about expressions give what xDSL gives."""

from __future__ import annotations

from itertools import product

import pytest
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineExpr

from clopt.dialects.tir.expressions import used_dims, with_dims

D = [AffineExpr.dimension(i) for i in range(4)]
SIMPLE = [
    D[0],
    D[3],
    AffineExpr.symbol(0),
    AffineExpr.constant(0),
    AffineExpr.constant(1),
    D[0] * 3,
    D[1] + 2,
    D[1] + D[2] * 4,
    (D[0] + 5) // 2,
    D[2] % 8,
]


def expressions() -> list[AffineExpr]:
    """Every kind of operation on these, also sums that no operator has simplified."""
    found = list(SIMPLE)
    for kind, left, right in product(AffineBinaryOpKind, SIMPLE, SIMPLE):
        try:
            found.append(AffineExpr.binary(kind, left, right))
        except (NotImplementedError, ZeroDivisionError):  # by what is no constant, or by zero
            continue
        found.append(AffineBinaryOpExpr(kind, left, right))
    return found


@pytest.mark.parametrize("shift", range(3))
def test_the_dimensions_are_replaced_as_xdsl_replaces_them(shift: int) -> None:
    dims = [SIMPLE[(shift * 3 + i) % len(SIMPLE)] for i in range(3)]  # the last one has no value
    for expr in expressions():
        try:
            expected = expr.replace_dims_and_symbols(dims, ())
        except (NotImplementedError, ZeroDivisionError):
            continue
        assert with_dims(expr, dims) == expected, str(expr)


def test_the_used_dimensions_are_those_of_xdsl() -> None:
    for expr in expressions():
        assert used_dims(expr) == expr.used_dims(), str(expr)
