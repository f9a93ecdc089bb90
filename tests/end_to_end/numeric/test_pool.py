"""Poolings: kernels, strides, dilation, padding, ceil_mode, count_include_pad, global forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.onnx.single_node import Case, check, examples, generators, node, values

pytestmark = pytest.mark.in_turns


@st.composite
def poolings(draw: st.DrawFn, kind: str, rank: int, outputs: int = 1) -> Case:
    """A pooling whose padding is less than its kernel."""
    rng = draw(generators)

    def per_axis(low: int, high: int, count: int = rank) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    kernel, strides = per_axis(1, 3), per_axis(1, 3)
    dilations = per_axis(1, 2)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    space = [r + e for r, e in zip(reach, per_axis(0, 5), strict=True)]
    attributes: dict[str, Any] = {
        "kernel_shape": kernel,
        "strides": strides,
        "ceil_mode": draw(st.integers(0, 1)),
        "dilations": dilations,
    }
    auto = draw(st.sampled_from(["NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]))
    if auto == "NOTSET":
        attributes["pads"] = [draw(st.integers(0, k - 1)) for k in kernel * 2]
    else:
        attributes["auto_pad"] = auto
        if auto != "VALID":
            del attributes["dilations"]
            attributes |= {
                "ceil_mode": 0,
                "strides": [min(k, s) for k, s in zip(kernel, strides, strict=True)],
            }
    if kind == "AveragePool":
        attributes["count_include_pad"] = draw(st.integers(0, 1))
        # onnxruntime divides the windows that ceil_mode adds by another count than ONNX says.
        assume(not (attributes["ceil_mode"] and attributes["count_include_pad"]))
    if kind == "LpPool":
        attributes["p"] = draw(st.integers(1, 3))
        assume(not attributes["ceil_mode"])
    x = values(rng, (draw(st.integers(1, 2)), draw(st.integers(1, 9)), *space))
    opset = 19 if kind == "AveragePool" else 18
    return node(kind, x, outputs=outputs, opset=opset, **attributes)


@examples(4)
@given(case=st.one_of(poolings("MaxPool", 1), poolings("MaxPool", 3)))
def test_max_pool(device: str, case: Case) -> None:
    check(case, device)


@examples(6)
@given(case=poolings("MaxPool", 2))
def test_max_pool_2d(device: str, case: Case) -> None:
    check(case, device)


@examples(3)
@given(case=poolings("MaxPool", 2, outputs=2), order=st.integers(0, 1))
def test_max_pool_indices(device: str, case: Case, order: int) -> None:
    case.model.graph.node[0].attribute.add(name="storage_order", i=order, type=2)
    check(case, device)


@examples(3)
@given(case=st.one_of(poolings("AveragePool", 1), poolings("AveragePool", 3)))
def test_average_pool(device: str, case: Case) -> None:
    check(case, device)


@examples(6)
@given(case=poolings("AveragePool", 2))
def test_average_pool_2d(device: str, case: Case) -> None:
    check(case, device)


@examples(3)
@given(case=poolings("LpPool", 2))
def test_lp_pool(device: str, case: Case) -> None:
    check(case, device)


@pytest.mark.parametrize("kind", ["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
@examples(1)
@given(
    rng=generators,
    shape=st.tuples(st.integers(1, 2), st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)),
)
def test_global_pool(
    device: str, kind: str, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    check(node(kind, values(rng, shape)), device)
