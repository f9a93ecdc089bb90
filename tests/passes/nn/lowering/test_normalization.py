"""Normalisations and softmax against numpy in double precision."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clopt.dialects import nn
from support.tir.harness import evaluate, examples

TOLERANCE = {"f2": 2e-3, "f4": 2e-6, "f8": 1e-12}
types = st.sampled_from(sorted(TOLERANCE))
seeds = st.integers(0, 99).map(np.random.default_rng)
shapes = st.lists(st.integers(1, 4), min_size=2, max_size=4).map(tuple)


def random(seed: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    return (seed.normal(size=shape) * 2 + 3).astype(dtype)


def close(actual: np.ndarray, expected: np.ndarray, terms: float | np.ndarray = 0.0) -> None:
    """`terms` is the size of numbers that may cancel: their rounding errors remain."""
    tolerance = TOLERANCE[actual.dtype.str[1:]]
    allowed = tolerance * (4 + np.abs(expected) + terms)
    np.testing.assert_array_less(np.abs(actual - expected), allowed)


def normal(x: np.ndarray, axes: tuple[int, ...], epsilon: float) -> np.ndarray:
    x = x.astype("f8")
    centered = x - x.mean(axes, keepdims=True)
    return centered / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def uncentered(x: np.ndarray, axes: tuple[int, ...], epsilon: float) -> np.ndarray:
    """The numbers and the mean that `normal` subtracts from each other, in the same units."""
    x = x.astype("f8")
    sizes = np.abs(x) + np.abs(x).mean(axes, keepdims=True)
    return sizes / np.sqrt(x.var(axes, keepdims=True) + epsilon)


@given(seeds, shapes, types)
@examples(20)
def test_batch_norm(seed: np.random.Generator, shape: tuple[int, ...], dtype: str) -> None:
    x = random(seed, shape, dtype)
    scale, bias, mean = (random(seed, shape[1:2], dtype) for _ in range(3))
    var = np.abs(random(seed, shape[1:2], dtype))
    (y,) = evaluate(lambda *v: nn.BatchNormOp(*v, epsilon=1e-3), x, scale, bias, mean, var)
    column = (-1, *[1] * (len(shape) - 2))
    scale, bias, mean, var = (a.astype("f8").reshape(column) for a in (scale, bias, mean, var))
    scaled = (x - mean) / np.sqrt(var + 1e-3) * scale
    close(y, scaled + bias, np.abs(scaled))


@given(seeds, shapes, types, st.data())
@examples(30)
def test_layer_norm(
    seed: np.random.Generator, shape: tuple[int, ...], dtype: str, data: st.DataObject
) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    x, scale = random(seed, shape, dtype), random(seed, shape[axis:], dtype)
    bias = random(seed, shape[-1:], dtype)
    axes = tuple(range(axis, len(shape)))
    expected = normal(x, axes, 1e-2) * scale
    terms = uncentered(x, axes, 1e-2) * np.abs(scale)
    (y,) = evaluate(lambda *v: nn.LayerNormOp(*v, axis=axis, epsilon=1e-2), x, scale)
    close(y, expected, terms)
    (y,) = evaluate(lambda *v: nn.LayerNormOp(*v, axis=axis, epsilon=1e-2), x, scale, bias)
    close(y, expected + bias, terms)


@given(seeds, shapes, types, st.data())
@examples(20)
def test_rms_norm(
    seed: np.random.Generator, shape: tuple[int, ...], dtype: str, data: st.DataObject
) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    x, scale = random(seed, shape, dtype), random(seed, shape[axis:], dtype)
    (y,) = evaluate(lambda *v: nn.RmsNormOp(*v, axis=axis, epsilon=1e-2), x, scale)
    axes = tuple(range(axis, len(shape)))
    root = np.sqrt(np.square(x.astype("f8")).mean(axes, keepdims=True) + 1e-2)
    close(y, x / root * scale)


@given(seeds, st.integers(1, 2), st.integers(1, 3), st.integers(0, 2), types)
@examples(20)
def test_group_norm(
    seed: np.random.Generator, groups: int, members: int, rank: int, dtype: str
) -> None:
    shape = (2, groups * members, *[3] * rank)
    x = random(seed, shape, dtype)
    scale, bias = (random(seed, shape[1:2], dtype) for _ in range(2))
    (y,) = evaluate(lambda *v: nn.GroupNormOp(*v, num_groups=groups, epsilon=1e-2), x, scale, bias)
    grouped = x.reshape(2, groups, -1)
    expected = normal(grouped, (2,), 1e-2).reshape(shape)
    terms = uncentered(grouped, (2,), 1e-2).reshape(shape)
    scale, bias = (v.reshape(-1, *[1] * rank) for v in (scale, bias))
    close(y, expected * scale + bias, terms * np.abs(scale))


def test_variance_of_a_large_mean_does_not_cancel() -> None:
    x = (np.arange(8, dtype="f4") + 4096).reshape(1, 8)
    (y,) = evaluate(lambda x, s: nn.LayerNormOp(x, s, epsilon=0.0), x, np.ones(8, "f4"))
    np.testing.assert_allclose(y, normal(x, (1,), 0), rtol=1e-5)


@given(seeds, shapes, types, st.booleans(), st.data())
@examples(30)
def test_softmax(
    seed: np.random.Generator,
    shape: tuple[int, ...],
    dtype: str,
    log: bool,
    data: st.DataObject,
) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    x = random(seed, shape, dtype)
    (y,) = evaluate(lambda x: nn.SoftmaxOp(x, axis, log=log), x)
    shifted = x.astype("f8") - x.max(axis, keepdims=True)
    logarithm = shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
    close(y, logarithm if log else np.exp(logarithm))


@pytest.mark.parametrize("log", [False, True])
def test_softmax_does_not_overflow(log: bool) -> None:
    x = np.array([[1e4, 1e4, -1e4], [-np.inf, 0, -np.inf]], "f4")
    (y,) = evaluate(lambda x: nn.SoftmaxOp(x, 1, log=log), x)
    expected = np.array([[0.5, 0.5, 0], [0, 1, 0]])
    if log:
        expected = np.array([[-np.log(2), -np.log(2), -2e4 - np.log(2)], [-np.inf, 0, -np.inf]])
    np.testing.assert_allclose(y, expected, rtol=1e-6)
