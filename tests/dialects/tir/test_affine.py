"""Index expressions: simplifying keeps the value, bounds hold, the usual divisions fold away."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr

from clopt.dialects.tir.affine import bounds, linear, normal, simplify, substitute

D0, D1, D2 = map(AffineExpr.dimension, range(3))
EXTENTS = st.tuples(*[st.integers(1, 6)] * 3)
CONSTANTS = st.builds(AffineExpr.constant, st.integers(-7, 7))


def _combinations(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
    divisor = st.integers(1, 9)
    return st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a - b, inner, inner),
        st.builds(lambda a, k: a * k, inner, st.integers(-6, 6)),
        st.builds(lambda a, k: a // k, inner, divisor),
        st.builds(lambda a, k: a % k, inner, divisor),
        st.builds(lambda a, k: a.ceil_div(k), inner, divisor),
    )


EXPRESSIONS = st.recursive(st.sampled_from([D0, D1, D2]) | CONSTANTS, _combinations, max_leaves=8)


def values(expr: AffineExpr, extents: tuple[int, ...]) -> list[int]:
    """The value at every point."""
    return [expr.eval(point, ()) for point in product(*map(range, extents))]


@given(EXPRESSIONS, EXTENTS)
def test_simplifying_keeps_the_value(expr: AffineExpr, extents: tuple[int, ...]):
    assert values(simplify(expr, extents), extents) == values(expr, extents)


@given(EXPRESSIONS, EXTENTS)
def test_bounds_hold(expr: AffineExpr, extents: tuple[int, ...]):
    low, high = bounds(expr, extents)
    found = values(expr, extents)
    assert low is not None
    assert high is not None
    assert low <= min(found)
    assert max(found) <= high


@given(EXPRESSIONS, st.tuples(*[EXPRESSIONS] * 3), EXTENTS)
def test_forms_in_place_of_dimensions_keep_the_value(
    expr: AffineExpr, inner: tuple[AffineExpr, ...], extents: tuple[int, ...]
):
    form = substitute(expr, [linear(each, extents) for each in inner], (), extents)
    composed = expr.replace_dims_and_symbols(inner, ())
    assert values(form.expr(), extents) == values(composed, extents)


@given(EXPRESSIONS, EXPRESSIONS, st.integers(-6, 6), EXTENTS)
def test_a_sum_of_forms_is_normalised_like_an_expression(
    one: AffineExpr, other: AffineExpr, factor: int, extents: tuple[int, ...]
):
    form = linear(one, extents) + linear(other, extents).scaled(factor)
    assert normal(form, extents) == linear(form.expr(), extents)


@given(EXPRESSIONS, EXTENTS, st.sets(st.integers(0, 2)))
def test_unknown_extents_assume_nothing(
    expr: AffineExpr, extents: tuple[int, ...], unknown: set[int]
):
    known = [None if i in unknown else n for i, n in enumerate(extents)]
    assert values(simplify(expr, known), extents) == values(expr, extents)
    low, high = bounds(expr, known)
    found = values(expr, extents)
    assert low is None or low <= min(found)
    assert high is None or max(found) <= high


@given(EXPRESSIONS, EXTENTS)
def test_simplifying_twice_changes_nothing(expr: AffineExpr, extents: tuple[int, ...]):
    once = simplify(expr, extents)
    assert simplify(once, extents) == once


@pytest.mark.parametrize(
    ("expr", "extents", "expected"),
    [
        # One iteration: the variable is 0.
        (D0 + D1, (1, 9, 1), D1),
        # A tiled index taken apart.
        ((D0 * 8 + D1) // 8, (4, 8, 1), D0),
        ((D0 * 8 + D1) % 8, (4, 8, 1), D1),
        # A quotient of a quotient.
        ((D0 // 4) // 3, (100, 1, 1), D0 // 12),
        # A remainder of a remainder.
        ((D0 % 12) % 4, (100, 1, 1), D0 % 4),
        # Both halves together.
        ((D0 // 4) * 4 + D0 % 4, (100, 1, 1), D0),
        ((D0 // 4 * 4 + D0 % 4) * 5 + D1, (100, 5, 1), D0 * 5 + D1),
        # The part below a factor of the divisor.
        ((D0 * 4 + D1) // 12, (9, 4, 1), D0 // 3),
        ((D0 * 4 + D1) % 12, (9, 4, 1), D0 % 3 * 4 + D1),
        # Negative numbers divide to the lower integer.
        ((D0 - 8) // 8, (8, 1, 1), AffineExpr.constant(-1)),
        ((D0 - 8) % 8, (8, 1, 1), D0),
        # Terms that cancel.
        (D0 * 3 + D1 - D0 * 3, (5, 6, 1), D1),
        (D0.ceil_div(4) * 2, (1, 1, 1), AffineExpr.constant(0)),
    ],
)
def test_identities(expr: AffineExpr, extents: tuple[int, ...], expected: AffineExpr):
    assert linear(simplify(expr, extents), extents) == linear(expected, extents)
    assert str(simplify(expr, extents)) == str(expected)


@given(st.integers(2, 6), st.integers(1, 8), st.integers(0, 7))
def test_bounds_of_an_overlapping_tile_are_exact(chunks: int, factor: int, short: int):
    beyond = min(short, factor - 1)
    expr = D0 * factor + D1 - (D0 // (chunks - 1)) * beyond
    assert bounds(expr, (chunks, factor, 1)) == (0, chunks * factor - beyond - 1)


def test_a_symbol_is_refused():
    with pytest.raises(ValueError, match="neither a dimension, a constant"):
        simplify(AffineExpr.symbol(0), ())


def test_bounds_of_an_overlapped_tile_of_a_fused_loop() -> None:
    tile = AffineExpr.dimension(0) % 9
    start = tile * 4 + (tile // 8) * -1
    assert bounds(start, [5040]) == (0, 31)
    assert bounds(start + AffineExpr.dimension(1), [5040, 4]) == (0, 34)


def test_bounds_of_an_overlapped_tile_of_padded_groups() -> None:
    """33 tiles for 197 rows, 24 times each, by groups of 128 of which the last overlaps."""
    item = D0 * 128 + D1 + (D0 // 6) * -104
    assert bounds(item, [7, 128]) == (0, 791)
    row = (item // 24) * 6 + (item // 768) * -1 + AffineExpr.dimension(2)
    assert bounds(row, [7, 128, 6]) == (0, 196)


def test_quotients_of_groups_move_with_those_of_their_items() -> None:
    """Where groups are exact, `item floordiv 96` has become `group floordiv 3`."""
    item = D0 * 32 + D1
    row = (item // 24) * 6 + (item // 96) * -5
    exact = {(g * 32 + i) // 24 * 6 - (g * 32 + i) // 96 * 5 for g in range(6) for i in range(32)}
    assert bounds(row, [6, 32]) == (min(exact), max(exact)) == (0, 37)


def test_bounds_of_an_overlapped_tile_in_a_split_loop() -> None:
    """33 tiles of 6 for 197 rows, in groups of 11 and in overlapping groups of 16."""
    tile = D0 * 11 + D1
    start = tile * 6 + (tile // 32) * -1
    assert bounds(start + AffineExpr.dimension(2), [3, 11, 6]) == (0, 196)
    tile = D0 * 16 + (D0 // 2) * -15 + D1
    start = tile * 6 + (tile // 32) * -1
    assert bounds(start + AffineExpr.dimension(2), [3, 16, 6]) == (0, 196)
