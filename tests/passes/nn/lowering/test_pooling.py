"""Pooling, compared with a walk over every window."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from clopt.dialects import nn
from support.tir.harness import evaluate, examples

Window = Callable[[np.ndarray, np.ndarray], float]


@st.composite
def windows(draw: st.DrawFn) -> tuple[np.ndarray, dict[str, object]]:
    """An input and the attributes of a window that fits it."""
    rank = draw(st.integers(1, 2))

    def ints(low: int, high: int, count: int = rank) -> tuple[int, ...]:
        return tuple(draw(st.lists(st.integers(low, high), min_size=count, max_size=count)))

    size, kernel, dilations = ints(1, 6), ints(1, 3), ints(1, 2)
    pads = ints(0, 2, 2 * rank)
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    assume(all(max(pads[i], pads[i + rank]) < spans[i] for i in range(rank)))
    assume(all(size[i] + pads[i] + pads[i + rank] >= spans[i] for i in range(rank)))
    x = np.random.default_rng(draw(st.integers(0, 99))).integers(-9, 10, (1, 2, *size))
    attributes = dict(kernel=kernel, dilations=dilations, pads=pads, strides=ints(1, 3))
    return x, attributes | {"ceil_mode": draw(st.booleans())}


def walk(x: np.ndarray, shape: tuple[int, ...], attributes: dict, window: Window) -> np.ndarray:
    """`window(elements, distances from the padded input)` for every output position.

    Taps outside of the input are absent, taps outside of the padded input are not even counted.
    """
    kernel, strides, dilations, pads = (
        attributes[name] for name in ("kernel", "strides", "dilations", "pads")
    )
    rank, sizes = len(kernel), x.shape[2:]
    y = np.zeros(shape)
    for n, c, *position in np.ndindex(*shape):
        inside, padded = [], 0
        for k in itertools.product(*map(range, kernel)):
            tap = [position[i] * strides[i] - pads[i] + k[i] * dilations[i] for i in range(rank)]
            padded += all(-pads[i] <= tap[i] < sizes[i] + pads[i + rank] for i in range(rank))
            if all(0 <= tap[i] < sizes[i] for i in range(rank)):
                inside.append(x[n, c, *tap])
        y[n, c, *position] = window(np.array(inside), padded)
    return y


@given(windows(), st.sampled_from(["f2", "f4", "f8", "i1", "u1", "i4"]))
@examples(40)
def test_max(case: tuple[np.ndarray, dict], dtype: str) -> None:
    x, attributes = case
    x = x.astype(dtype)
    (y,) = evaluate(lambda x: nn.PoolOp(x, "max", **attributes), x)
    least = np.iinfo(dtype).min if x.dtype.kind in "iu" else -np.inf
    np.testing.assert_array_equal(
        y, walk(x, y.shape, attributes, lambda taps, _: taps.max(initial=least))
    )


@given(windows(), st.booleans())
@examples(40)
def test_average(case: tuple[np.ndarray, dict], padding: bool) -> None:
    x, attributes = case
    x = x.astype("f4")
    (y,) = evaluate(lambda x: nn.PoolOp(x, "average", count_include_pad=padding, **attributes), x)
    with np.errstate(all="ignore"):
        expected = walk(
            x,
            y.shape,
            attributes,
            lambda taps, n: taps.sum() / np.float64(n if padding else taps.size),
        )
    np.testing.assert_allclose(y, expected, rtol=1e-6)


@given(windows(), st.integers(1, 3))
@examples(25)
def test_lp(case: tuple[np.ndarray, dict], p: int) -> None:
    x, attributes = case
    x = x.astype("f4")
    (y,) = evaluate(lambda x: nn.PoolOp(x, "lp", p=p, **attributes), x)
    expected = walk(
        x, y.shape, attributes, lambda taps, _: (np.abs(taps.astype("f8")) ** p).sum() ** (1 / p)
    )
    np.testing.assert_allclose(y, expected, rtol=1e-5)


@given(windows(), st.sampled_from([0, 1]))
@examples(25)
def test_indices(case: tuple[np.ndarray, dict], order: int) -> None:
    x, attributes = case
    x = (x // 4).astype("f4")
    (y,) = evaluate(lambda x: nn.MaxPoolIndicesOp(x, storage_order=order, **attributes), x)
    numbers = np.arange(x[0, 0].size).reshape(x.shape[2:], order="F" if order else "C")
    numbers = numbers + x[0, 0].size * np.arange(2).reshape(1, 2, *[1] * (x.ndim - 2))
    where = np.stack([x, numbers.astype("f4")], -1)
    y2 = np.zeros(y.shape)
    for index in np.ndindex(*y.shape):
        taps = _taps(where, index, attributes)
        y2[index] = taps[np.argmax(taps[:, 0]), 1] if len(taps) else -1
    np.testing.assert_array_equal(y, y2)


def _taps(x: np.ndarray, index: tuple[int, ...], attributes: dict) -> np.ndarray:
    n, c, *position = index
    found = []
    for k in itertools.product(*map(range, attributes["kernel"])):
        tap = [
            p * s - pad + o * d
            for p, s, pad, o, d in zip(
                position,
                attributes["strides"],
                attributes["pads"],
                k,
                attributes["dilations"],
                strict=False,
            )
        ]
        if all(0 <= t < size for t, size in zip(tap, x.shape[2:-1], strict=True)):
            found.append(x[n, c, *tap])
    return np.array(found)


@pytest.mark.parametrize("kind", ["max", "average"])
def test_nan_is_handed_on(kind: str) -> None:
    x = np.array([[[1, np.nan, 2, 3, -np.inf, -np.inf]]], "f4")
    (y,) = evaluate(lambda x: nn.PoolOp(x, kind, (2,), strides=(2,)), x)
    assert np.isnan(y[0, 0, 0])
    assert y[0, 0, 2] == -np.inf
