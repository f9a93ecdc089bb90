"""Gathers and scatters against numpy and ONNX's reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clopt.dialects import nn
from clopt.errors import CloptError
from support.tir.harness import evaluate, examples, onnx_reference

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)
seeds = st.integers(0, 99).map(np.random.default_rng)
index_types = st.sampled_from(["i1", "i4", "i8", "u1"])
REDUCTIONS = ("none", "add", "mul", "min", "max")


def indices(
    seed: np.random.Generator, size: int, shape: tuple[int, ...], dtype: str = "i8"
) -> np.ndarray:
    """Valid indices, negative ones too where the type has them."""
    low = 0 if dtype[0] == "u" else -size
    return seed.integers(low, size, shape).astype(dtype)


def numbers(seed: np.random.Generator, shape: tuple[int, ...], dtype: str = "f4") -> np.ndarray:
    return seed.integers(-4, 5, shape).astype(dtype)


@given(seeds, shapes, st.lists(st.integers(1, 3), max_size=2).map(tuple), index_types, st.data())
@examples(30)
def test_gather(
    seed: np.random.Generator,
    shape: tuple[int, ...],
    chosen: tuple[int, ...],
    dtype: str,
    data: st.DataObject,
) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    x = numbers(seed, shape, data.draw(st.sampled_from(["f4", "f2", "i8", "u1", "?"])))
    at = indices(seed, shape[axis], chosen, dtype)
    (y,) = evaluate(lambda x, at: nn.GatherOp(x, at, axis), x, at)
    np.testing.assert_array_equal(y, np.take(x, at, axis))


def test_gather_stays_inside() -> None:
    x, at = np.arange(4, dtype="f4"), np.array([-9, -4, 3, 4, 99], "i8")
    (y,) = evaluate(lambda x, at: nn.GatherOp(x, at), x, at)
    assert y.tolist() == [0, 0, 3, 3, 3]


def test_gather_from_nothing_is_refused() -> None:
    x, at = np.zeros((0, 2), "f4"), np.zeros(3, "i8")
    with pytest.raises(CloptError, match="without elements"):
        evaluate(lambda x, at: nn.GatherOp(x, at), x, at)


@given(seeds, shapes, index_types, st.data())
@examples(25)
def test_gather_elements(
    seed: np.random.Generator, shape: tuple[int, ...], dtype: str, data: st.DataObject
) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    chosen = tuple(data.draw(st.integers(1, 5 if i == axis else n)) for i, n in enumerate(shape))
    x, at = numbers(seed, shape), indices(seed, shape[axis], chosen, dtype)
    (y,) = evaluate(lambda x, at: nn.GatherElementsOp(x, at, axis), x, at)
    for index in np.ndindex(*chosen):
        place = list(index)
        place[axis] = at[index]
        assert y[index] == x[tuple(place)]


@pytest.mark.parametrize("batch", [0, 1])
@pytest.mark.parametrize("depth", [1, 2])
def test_gather_nd(batch: int, depth: int) -> None:
    seed = np.random.default_rng(depth)
    x, at = numbers(seed, (2, 2, 3)), indices(seed, 2, (2, 3, depth))
    (y,) = evaluate(lambda x, at: nn.GatherNDOp(x, at, batch), x, at)
    (expected,) = onnx_reference("GatherND", x, at, batch_dims=batch)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@given(seed=seeds, shape=shapes, data=st.data())
@examples(8)
def test_scatter_elements(
    reduction: str, seed: np.random.Generator, shape: tuple[int, ...], data: st.DataObject
) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    chosen = tuple(data.draw(st.integers(0, 5 if i == axis else n)) for i, n in enumerate(shape))
    dtype = data.draw(st.sampled_from(["f4", "i4", "i8"]))
    x, updates = numbers(seed, shape, dtype), numbers(seed, chosen, dtype)
    at = indices(seed, shape[axis], chosen)
    (y,) = evaluate(
        lambda x, at, u: nn.ScatterElementsOp(x, at, u, axis, reduction), x, at, updates
    )
    expected = x.copy()
    for index in np.ndindex(*chosen):
        place = list(index)
        place[axis] = at[index]
        _update(expected, tuple(place), updates[index], reduction)
    np.testing.assert_array_equal(y, expected)


@given(seeds, shapes, st.integers(-3, 6), st.integers(0, 4), st.data())
@examples(25)
def test_insert_slice(
    seed: np.random.Generator, shape: tuple[int, ...], start: int, count: int, data: st.DataObject
) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    x, inserted = numbers(seed, shape), numbers(seed, (*shape[:axis], count, *shape[axis + 1 :]))
    by_row = bool(axis) and data.draw(st.booleans())
    starts = seed.integers(-3, 6, shape[0]) if by_row else np.array(start)
    at = starts.astype(data.draw(st.sampled_from(["i4", "i8"])))
    (y,) = evaluate(lambda x, u, at: nn.InsertSliceOp(x, u, at, axis), x, inserted, at)
    for index in np.ndindex(*shape):
        place = list(index)
        place[axis] -= starts[index[0]] if by_row else start
        is_new = 0 <= place[axis] < count
        assert y[index] == (inserted[tuple(place)] if is_new else x[index])


def _update(x: np.ndarray, index: tuple[int, ...], value: np.ndarray, reduction: str) -> None:
    combine = {
        "none": lambda old, new: new,
        "add": lambda old, new: old + new,
        "mul": lambda old, new: old * new,
        "min": np.minimum,
        "max": np.maximum,
    }
    x[index] = combine[reduction](x[index], value)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("count", [(), (0,), (3,), (2, 3)])
def test_scatter_nd(reduction: str, count: tuple[int, ...]) -> None:
    seed = np.random.default_rng(len(count))
    for depth in (1, 2, 3):
        x = numbers(seed, (3, 3, 3))
        at = indices(seed, 3, (*count, depth))
        updates = numbers(seed, (*count, *x.shape[depth:]))
        (y,) = evaluate(lambda x, at, u: nn.ScatterNDOp(x, at, u, reduction), x, at, updates)
        expected = x.copy()
        for index in np.ndindex(*count):
            _update(expected, tuple(at[index]), updates[index], reduction)
        np.testing.assert_array_equal(y, expected)


def test_scatter_drops_what_lies_outside() -> None:
    x, at = np.arange(3, dtype="f4"), np.array([[5], [-7], [1]], "i8")
    (y,) = evaluate(nn.ScatterNDOp, x, at, np.full(3, 9, "f4"))
    assert y.tolist() == [0, 9, 2]
