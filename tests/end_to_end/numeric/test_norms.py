"""Normalisations and softmax."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.onnx.single_node import check, examples, generators, node, shapes, values

pytestmark = pytest.mark.in_turns


@examples(3)
@given(rng=generators, shape=shapes(2, 5), opset=st.sampled_from([9, 14, 15]))
def test_batch_norm(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], opset: int
) -> None:
    channels = (shape[1],)
    scale, bias, mean = (values(rng, channels) for _ in range(3))
    variance = values(rng, channels, low=0.3)
    x = values(rng, shape)
    case = node(
        "BatchNormalization",
        *(x, scale, bias, mean, variance),
        constants=[1, 2, 3, 4],
        opset=opset,
        epsilon=1e-3,
    )
    check(case, device)


@examples(3)
@given(rng=generators, shape=shapes(3, 5))
def test_instance_norm(device: str, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    scale, bias = values(rng, (shape[1],)), values(rng, (shape[1],))
    check(node("InstanceNormalization", values(rng, shape), scale, bias, epsilon=1e-2), device)


@examples(3)
@given(
    rng=generators,
    groups=st.integers(1, 3),
    per_group=st.integers(1, 3),
    space=shapes(1, 3),
)
def test_group_norm(
    device: str,
    rng: np.random.Generator,
    groups: int,
    per_group: int,
    space: tuple[int, ...],
) -> None:
    channels = groups * per_group
    scale, bias = values(rng, (channels,)), values(rng, (channels,))
    case = node(
        "GroupNormalization",
        *(values(rng, (2, channels, *space)), scale, bias),
        opset=21,
        num_groups=groups,
        epsilon=1e-2,
    )
    check(case, device)


@examples(5)
@given(rng=generators, shape=shapes(1, 4, 9), data=st.data(), with_bias=st.booleans())
def test_layer_norm(
    device: str,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    data: st.DataObject,
    with_bias: bool,
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    scale = values(rng, shape[axis:])
    bias = values(rng, shape[axis:]) if with_bias else None
    case = node("LayerNormalization", values(rng, shape), scale, bias, axis=axis, epsilon=1e-2)
    check(case, device)


@pytest.mark.parametrize("kind", ["Softmax", "LogSoftmax"])
@examples(4)
@given(
    rng=generators,
    shape=shapes(1, 4, 9),
    data=st.data(),
    opset=st.sampled_from([13, 18]),
)
def test_softmax(
    device: str,
    kind: str,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    data: st.DataObject,
    opset: int,
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = values(rng, shape, low=-50, high=50)
    check(node(kind, x, axis=axis, opset=opset), device)


@pytest.mark.parametrize("kind", ["Softmax", "LogSoftmax", "Hardmax"])
@examples(2)
@given(rng=generators, shape=shapes(2, 4), data=st.data())
def test_old_softmax(
    device: str,
    kind: str,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    data: st.DataObject,
) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    check(node(kind, values(rng, shape), axis=axis, opset=11), device)


@examples(2)
@given(rng=generators, shape=shapes(2, 4), axis=st.integers(-2, 1), p=st.integers(1, 2))
def test_lp_normalization(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], axis: int, p: int
) -> None:
    check(node("LpNormalization", values(rng, shape, low=0.5), axis=axis, p=p), device)


@examples(2)
@given(rng=generators, shape=shapes(4, 4), size=st.sampled_from([1, 3, 5]))
def test_lrn(device: str, rng: np.random.Generator, shape: tuple[int, ...], size: int) -> None:
    check(node("LRN", values(rng, shape), size=size, alpha=0.02, beta=0.6, bias=1.5), device)
