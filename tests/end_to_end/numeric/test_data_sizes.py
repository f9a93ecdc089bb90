"""NonZero, Compress, Unique and NonMaxSuppression on each device."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.onnx.single_node import check, examples, generators, ints, node, shapes

pytestmark = pytest.mark.in_turns


@examples(2)
@given(rng=generators, shape=shapes(1, 3, 9))
@pytest.mark.by_default(cases=1)
def test_non_zero(device: str, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    check(node("NonZero", rng.integers(0, 2, shape).astype(np.float32)), device)


@examples(2)
@given(rng=generators, count=st.integers(65, 400))
@pytest.mark.by_default(cases=1)
def test_compress(device: str, rng: np.random.Generator, count: int) -> None:
    x = rng.uniform(size=(count, 3)).astype(np.float32)
    check(node("Compress", x, rng.uniform(size=count) < 0.5, axis=0), device)


@examples(2)
@given(rng=generators, count=st.integers(1, 40), width=st.integers(1, 3), data=st.data())
@pytest.mark.by_default(cases=1)
def test_unique(
    device: str, rng: np.random.Generator, count: int, width: int, data: st.DataObject
) -> None:
    x = rng.integers(0, 3, (count, width)).astype(np.float32)
    axis = data.draw(st.sampled_from([{}, {"axis": 0}]))
    in_order = data.draw(st.integers(0, 1))
    check(node("Unique", x, outputs=4, sorted=in_order, **axis), device)


@examples(2)
@given(rng=generators, count=st.integers(1, 60), most=st.integers(1, 12))
@pytest.mark.by_default(cases=1)
def test_non_max_suppression(device: str, rng: np.random.Generator, count: int, most: int) -> None:
    boxes = rng.integers(0, 6, (2, count, 4)).astype(np.float32)
    scores = rng.integers(0, 20, (2, 2, count)).astype(np.float32)
    thresholds = np.array([0.3], np.float32), np.array([4], np.float32)
    case = node(
        "NonMaxSuppression", boxes, scores, ints(most), *thresholds, constants=[2], opset=11
    )
    check(case, device)
