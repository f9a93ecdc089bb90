"""Reductions, arg reductions, cumulative sums and top-k against numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir import SSAValue

from clopt.dialects import nn
from clopt.errors import CloptError
from support.tir.harness import evaluate, examples

KINDS = {
    "sum": lambda x, axes: x.sum(axes),
    "mean": lambda x, axes: x.mean(axes),
    "max": lambda x, axes: x.max(axes),
    "min": lambda x, axes: x.min(axes),
    "prod": lambda x, axes: x.prod(axes),
    "l1": lambda x, axes: np.abs(x).sum(axes),
    "l2": lambda x, axes: np.sqrt(np.square(x).sum(axes)),
    "log_sum": lambda x, axes: np.log(x.sum(axes)),
    "log_sum_exp": lambda x, axes: np.log(np.exp(x).sum(axes)),
    "sum_square": lambda x, axes: np.square(x).sum(axes),
}
TYPES = ("f2", "f4", "f8", "i1", "u1", "i4", "i8", "u8")
shapes = st.lists(st.integers(1, 4), max_size=4).map(tuple)


@st.composite
def reductions(draw: st.DrawFn) -> tuple[np.ndarray, tuple[int, ...]]:
    """A tensor of small numbers (every sum is exact) and some of its axes."""
    shape = draw(shapes)
    axes = tuple(i for i in range(len(shape)) if draw(st.booleans()))
    x = np.random.default_rng(draw(st.integers(0, 99))).integers(1, 4, shape)
    return x, axes


@pytest.mark.parametrize("kind", KINDS)
@given(case=reductions(), dtype=st.sampled_from(TYPES), keepdims=st.booleans())
@examples(12)
def test_reduce(
    kind: str, case: tuple[np.ndarray, tuple[int, ...]], dtype: str, keepdims: bool
) -> None:
    x, axes = case
    exact = KINDS[kind](x.astype("f8"), axes)
    if keepdims:
        exact = exact.reshape([1 if i in axes else n for i, n in enumerate(x.shape)])
    largest = np.finfo(dtype).max if dtype[0] == "f" else np.iinfo(dtype).max
    if np.max(exact) > largest:
        return
    (y,) = evaluate(lambda x: nn.ReduceOp(x, kind, axes, keepdims), x.astype(dtype))
    tolerance = {"f2": 1e-3, "f4": 1e-5}.get(dtype, 1e-12)
    expected = exact if dtype[0] == "f" else np.trunc(exact + 1e-9)
    np.testing.assert_allclose(y, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4"])
def test_mean_of_integers_that_cannot_hold_the_sum(dtype: str) -> None:
    largest = np.iinfo(dtype).max
    x = np.full(256, largest, dtype)
    (y,) = evaluate(lambda x: nn.ReduceOp(x, "mean", [0], False), x)
    assert y == largest


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("sum", 0),
        ("prod", 1),
        ("max", -np.inf),
        ("min", np.inf),
        ("mean", np.nan),
        ("l2", 0),
        ("log_sum", -np.inf),
        ("log_sum_exp", -np.inf),
    ],
)
def test_reduce_nothing(kind: str, expected: float) -> None:
    (y,) = evaluate(lambda x: nn.ReduceOp(x, kind, (1,)), np.zeros((2, 0), "f4"))
    np.testing.assert_array_equal(y, np.full(2, expected, "f4"))


def test_log_sum_exp_of_extremes() -> None:
    x = np.array([[1e4, 1e4], [-np.inf, -np.inf], [np.inf, 0]], "f4")
    (y,) = evaluate(lambda x: nn.ReduceOp(x, "log_sum_exp", (1,)), x)
    np.testing.assert_allclose(y, [1e4 + np.log(2), -np.inf, np.inf], rtol=1e-6)


def test_extremes_hand_nan_on_and_take_bools() -> None:
    x = np.array([[1, np.nan], [2, 3]], "f4")
    (y,) = evaluate(lambda x: nn.ReduceOp(x, "max", (1,)), x)
    np.testing.assert_array_equal(y, [np.nan, 3])
    flags = np.array([[True, False], [False, False]])
    assert evaluate(lambda x: nn.ReduceOp(x, "max", (1,)), flags)[0].tolist() == [True, False]
    assert evaluate(lambda x: nn.ReduceOp(x, "min", (0,)), flags)[0].tolist() == [False, False]


@pytest.mark.parametrize(
    "build",
    [
        lambda x: nn.UnaryOp(x, "relu"),
        lambda x: nn.ClipOp(x, low=-1),
        lambda x: nn.ClipOp(x, high=1),
        lambda x: nn.ReduceOp(x, "max", ()),
    ],
    ids=["relu", "low", "high", "no axes"],
)
def test_bounds_hand_nan_on(build: Callable[[SSAValue], nn.NNOp]) -> None:
    x = np.array([np.nan, 0.5], "f4")
    np.testing.assert_array_equal(evaluate(build, x)[0], x)


@given(reductions(), st.sampled_from(["max", "min"]), st.booleans(), st.booleans(), st.data())
@examples(40)
def test_arg_reduce(
    case: tuple[np.ndarray, tuple[int, ...]],
    kind: str,
    keepdims: bool,
    last: bool,
    data: st.DataObject,
) -> None:
    x, _ = case
    if not x.ndim:
        return
    axis = data.draw(st.integers(0, x.ndim - 1))
    x = x.astype(data.draw(st.sampled_from([*TYPES, "?"])))
    (y,) = evaluate(lambda x: nn.ArgReduceOp(x, kind, axis, keepdims, last), x)
    function = np.argmax if kind == "max" else np.argmin
    if last:
        expected = x.shape[axis] - 1 - function(np.flip(x, axis), axis, keepdims=keepdims)
    else:
        expected = function(x, axis, keepdims=keepdims)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("kind", ["max", "min"])
def test_arg_reduce_finds_nan_as_numpy_does(kind: str, last: bool) -> None:
    x = np.array([[np.inf, np.nan, 1, np.nan], [-np.inf] * 4, [np.inf] * 4], "f4")
    (y,) = evaluate(lambda x: nn.ArgReduceOp(x, kind, 1, select_last=last), x)
    assert y.tolist() == ([3, 3, 3] if last else [1, 0, 0])


def test_arg_reduce_of_nothing_is_refused() -> None:
    with pytest.raises(CloptError, match="empty axis"):
        evaluate(lambda x: nn.ArgReduceOp(x, "max", 1), np.zeros((2, 0), "f4"))


@given(reductions(), st.booleans(), st.booleans(), st.data())
@examples(25)
def test_cumsum(
    case: tuple[np.ndarray, tuple[int, ...]],
    exclusive: bool,
    reverse: bool,
    data: st.DataObject,
) -> None:
    x, _ = case
    if not x.ndim:
        return
    axis = data.draw(st.integers(0, x.ndim - 1))
    x = x.astype(data.draw(st.sampled_from(["f4", "i4", "u8"])))
    (y,) = evaluate(lambda x: nn.CumsumOp(x, axis, exclusive, reverse), x)
    ordered = np.flip(x, axis) if reverse else x
    expected = np.cumsum(ordered, axis) - (ordered if exclusive else 0)
    np.testing.assert_array_equal(y, np.flip(expected, axis) if reverse else expected)


@given(reductions(), st.booleans(), st.data())
@examples(40)
def test_top_k(
    case: tuple[np.ndarray, tuple[int, ...]], largest: bool, data: st.DataObject
) -> None:
    x, _ = case
    if not x.ndim:
        return
    axis = data.draw(st.integers(0, x.ndim - 1))
    k = data.draw(st.integers(0, x.shape[axis]))
    x = x.astype(data.draw(st.sampled_from(["f2", "f4", "i8", "u1"])))
    values, indices = evaluate(lambda x: nn.TopKOp(x, k, axis, largest), x)
    keys = -x.astype("f8") if largest else x
    order = np.argsort(keys, axis, kind="stable").take(range(k), axis)
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, axis))


@pytest.mark.parametrize("largest", [False, True])
def test_top_k_orders_nan_as_the_greatest(largest: bool) -> None:
    x = np.array([1, np.nan, np.inf, np.nan, -np.inf], "f4")
    _, indices = evaluate(lambda x: nn.TopKOp(x, 5, 0, largest), x)
    assert indices.tolist() == ([1, 3, 2, 0, 4] if largest else [4, 0, 2, 1, 3])
