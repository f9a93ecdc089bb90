"""Ranges that follow from the distribution of a value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clopt.passes.nn.quantization.histogram import BINS, RANGES, Histogram
from support.tir.harness import examples


def counted(*arrays: np.ndarray) -> Histogram:
    histogram = Histogram()
    for array in arrays:
        histogram.add(array)
    return histogram


@examples(20)
@given(seed=st.integers(0, 2**16))
def test_the_order_of_arrays_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=50).astype("f4") * 2.0**scale for scale in (-9, 0, 3)]
    first, second = counted(*arrays), counted(*reversed(arrays))
    assert (first.limit, first.largest) == (second.limit, second.largest)
    if first.limit == counted(*arrays[1:]).limit:
        positions = np.abs(np.concatenate(arrays[2:])) * (BINS / first.limit)
        expected = np.bincount(positions.astype(int).clip(max=BINS - 1), minlength=BINS)
        assert (second.counts >= expected).all()
    assert first.counts.sum() == second.counts.sum() == 150


def test_bins_merge_in_pairs() -> None:
    """As if the limit had been known at the start."""
    small, large = np.linspace(0.001, 0.999, 999, dtype="f4"), np.array([7.5], "f4")
    np.testing.assert_array_equal(counted(small, large).counts, counted(large, small).counts)


def test_percentile_leaves_out_few() -> None:
    values = np.ones(1_000_000, "f4")
    values[:5] = 64
    histogram = counted(values)
    assert RANGES["max"](histogram) == 64
    assert 1 <= RANGES["percentile"](histogram) <= 1 + 64 / BINS


def test_kl_clips_what_is_rare() -> None:
    rng = np.random.default_rng(0)
    normal = rng.normal(size=200_000).astype("f4")
    with_few = np.append(normal, np.full(3, 60, "f4"))
    assert RANGES["kl"](counted(with_few)) <= 8
    uniform = counted(rng.uniform(0, 60, 200_000).astype("f4"))
    assert RANGES["kl"](uniform) == uniform.largest


@pytest.mark.parametrize("method", RANGES)
def test_zeros_and_infinity(method: str) -> None:
    assert RANGES[method](counted(np.zeros(4, "f4"))) == 0
    for value in (np.inf, np.nan):
        odd = counted(np.ones(4, "f4"), np.array([value], "f4"))
        assert RANGES[method](odd) == math.inf
