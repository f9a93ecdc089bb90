"""Gathers, scatters, top-k and one-hot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.onnx.single_node import by_onnx, check, examples, generators, node, shapes, values

pytestmark = pytest.mark.in_turns


@examples(5)
@given(
    rng=generators,
    shape=shapes(1, 4),
    picked=shapes(0, 2),
    dtype=st.sampled_from([np.int32, np.int64]),
    data=st.data(),
)
def test_gather(
    device: str,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    picked: tuple[int, ...],
    dtype: type,
    data: st.DataObject,
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    indices = rng.integers(-shape[axis], shape[axis], picked).astype(dtype)
    constants = [1] if data.draw(st.booleans()) else []
    check(node("Gather", values(rng, shape), indices, constants=constants, axis=axis), device)


@examples(3)
@given(rng=generators, shape=shapes(1, 3), data=st.data())
def test_gather_elements(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], data: st.DataObject
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    picked = list(shape)
    picked[axis] = data.draw(st.integers(1, 6))
    indices = np.asarray(rng.integers(-shape[axis], shape[axis], picked))
    check(node("GatherElements", values(rng, shape), indices, axis=axis), device)


@examples(3)
@given(rng=generators, batch=st.integers(0, 1), depth=st.integers(1, 2), tail=shapes(0, 2))
def test_gather_nd(
    device: str, rng: np.random.Generator, batch: int, depth: int, tail: tuple[int, ...]
) -> None:
    lead, inner = (2,) * batch, (3, 4)[:depth]
    picked = np.stack([rng.integers(-n, n, (*lead, 5)) for n in inner], -1)
    case = node("GatherND", values(rng, (*lead, *inner, *tail)), picked, batch_dims=batch)
    check(case, device)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
@examples(2)
@given(rng=generators, shape=shapes(1, 3), data=st.data())
def test_scatter_elements(
    device: str,
    reduction: str,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    data: st.DataObject,
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    count = data.draw(st.integers(1, shape[axis]))
    lead = [extent for i, extent in enumerate(shape) if i != axis % len(shape)]
    rows = [rng.permutation(shape[axis])[:count] for _ in range(int(np.prod(lead)))]
    indices = np.moveaxis(np.array(rows, np.int64).reshape(*lead, count), -1, axis)
    updates = values(rng, indices.shape)
    case = node(
        "ScatterElements",
        *(values(rng, shape), np.ascontiguousarray(indices), updates),
        axis=axis,
        reduction=reduction,
    )
    check(case, device)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
@examples(1)
@given(rng=generators, tail=shapes(0, 2))
def test_scatter_nd(
    device: str, reduction: str, rng: np.random.Generator, tail: tuple[int, ...]
) -> None:
    flat = rng.permutation(12)[:5]
    indices = np.stack([flat // 4, flat % 4], -1).astype(np.int64)
    case = node(
        "ScatterND",
        *(values(rng, (3, 4, *tail)), indices, values(rng, (5, *tail))),
        reduction=reduction,
    )
    check(case, device)


@examples(2)
@given(rng=generators)
def test_repeated_scatter(device: str, rng: np.random.Generator) -> None:
    indices = np.array([[1, 1, 3], [1, 0, 1]], np.int64)
    x, updates = values(rng, (2, 5)), values(rng, (2, 3))
    check(node("ScatterElements", x, indices, updates, axis=1, reduction="add"), device)


@examples(4)
@given(
    rng=generators,
    shape=shapes(1, 3, 9),
    data=st.data(),
    largest=st.integers(0, 1),
    ties=st.booleans(),
)
def test_top_k(
    device: str,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    data: st.DataObject,
    largest: int,
    ties: bool,
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    k = np.array([data.draw(st.integers(1, shape[axis]))], np.int64)
    x = values(rng, shape, np.int32 if ties else np.float32).astype(np.float32)
    case = node("TopK", x, k, constants=[1], outputs=2, axis=axis, largest=largest)
    check(case, device, reference=by_onnx)


@examples(2)
@given(rng=generators, shape=shapes(1, 2), axis=st.sampled_from([-1, 0, 1]))
def test_one_hot(device: str, rng: np.random.Generator, shape: tuple[int, ...], axis: int) -> None:
    indices = np.asarray(rng.integers(-5, 5, shape))
    limits = np.array([0.5, 2.0], np.float32)
    case = node("OneHot", indices, np.array(5, np.int64), limits, constants=[1, 2], axis=axis)
    check(case, device)
