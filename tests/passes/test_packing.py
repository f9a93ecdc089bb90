"""Constants in the layouts that kernels ask for: every element where the layout says, else zero."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr, AffineMap

from clopt.errors import CloptError
from clopt.passes.packing import pack

D0, D1, D2 = map(AffineExpr.dimension, range(3))


def layout(*results: AffineExpr, rank: int = 2) -> AffineMap:
    return AffineMap(rank, 0, results)


@st.composite
def layouts(draw: st.DrawFn) -> tuple[np.ndarray, AffineMap, tuple[int, ...]]:
    """An array, a layout that blocks some of its dimensions and permutes all, the packed shape."""
    sizes = draw(st.lists(st.integers(1, 7), min_size=1, max_size=3))
    parts: list[tuple[AffineExpr, int]] = []
    for dim, size in enumerate(sizes):
        expr, block = AffineExpr.dimension(dim), draw(st.integers(1, 4))
        if block == 1:
            parts.append((expr, size + draw(st.integers(0, 2))))
        else:
            parts += [(expr // block, -(-size // block)), (expr % block, block)]
    parts = draw(st.permutations(parts))
    array = np.arange(1, np.prod(sizes) + 1, dtype=np.float32).reshape(sizes)
    return array, layout(*(e for e, _ in parts), rank=len(sizes)), tuple(n for _, n in parts)


@given(layouts())
def test_every_element_is_where_the_layout_says(
    case: tuple[np.ndarray, AffineMap, tuple[int, ...]],
):
    array, where, shape = case
    expected = np.zeros(shape, array.dtype)
    for index in product(*map(range, array.shape)):
        expected[tuple(where.eval(index, ()))] = array[index]
    packed = pack(array, where, shape)
    assert packed.flags.c_contiguous
    np.testing.assert_array_equal(packed, expected)


@pytest.mark.parametrize("dtype", ["float16", "float64", "int64", "bool", "uint8"])
def test_types_are_kept(dtype: str):
    packed = pack(np.ones((4, 2), dtype), layout(D0 // 2, D1, D0 % 2), (2, 2, 2))
    assert packed.dtype == dtype
    assert packed.shape == (2, 2, 2)


def test_a_blocked_matrix():
    array = np.arange(8).reshape(4, 2)
    packed = pack(array, layout(D0 // 2, D1, D0 % 2), (2, 2, 2))
    np.testing.assert_array_equal(packed, [[[0, 2], [1, 3]], [[4, 6], [5, 7]]])


@pytest.mark.parametrize(
    ("where", "shape", "message"),
    [
        (layout(D0 + D1), (8,), "must be a block of one dimension"),
        (layout(D0 * 2, D1), (8, 2), "must be a block of one dimension"),
        (layout((D0 + 1) // 2, D1), (2, 2), "must be a block of one dimension"),
        (layout(D0, D1), (3, 2), "does not lay"),
        (layout(D0), (4,), "does not lay"),
        (layout(D0, D1), (4, 2, 1), "does not lay"),
        (layout(D0, D1, D0), (4, 2), "does not lay"),
        (layout(D0 // 2, D1, D0 % 3), (2, 2, 3), "does not lay"),
        (layout(D0 // 2, D1, D0 % 2), (2, 2, 3), "must be a block of one dimension"),
        (layout(D0, D1, AffineExpr.constant(0)), (4, 2, 1), "must be a block of one dimension"),
    ],
)
def test_other_maps_are_refused(where: AffineMap, shape: tuple[int, ...], message: str):
    with pytest.raises(CloptError, match=message):
        pack(np.ones((4, 2)), where, shape)
