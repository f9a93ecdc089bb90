"""Casts between every pair of element types, and arithmetic in half and double."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from onnx import TensorProto, helper

from support.onnx.single_node import (
    ELEMENT_TYPES,
    by_onnx,
    check,
    examples,
    generators,
    graph,
    joined,
    node,
    shapes,
    values,
)

pytestmark = pytest.mark.in_turns


@pytest.mark.parametrize("source", list(ELEMENT_TYPES), ids=str)
@examples(1)
@given(rng=generators, shape=shapes(1, 3))
def test_cast(
    device: str, source: np.dtype, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    """To each type, and from there to double, which holds all values."""
    nodes = []
    for target, number in ELEMENT_TYPES.items():
        # A negative float has no unsigned value.
        if target != source and (source.kind, target.kind) != ("f", "u"):
            name = str(target)
            nodes.append(helper.make_node("Cast", ["x"], [name], to=number))
            nodes.append(helper.make_node("Cast", [name], [f"{name}_wide"], to=TensorProto.DOUBLE))
    low = 0 if source.kind == "u" else -100
    check(joined(nodes, {"x": values(rng, shape, source, low, 100)}), device, 0, by_onnx)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
@examples(1)
@given(rng=generators, shape=shapes(1, 3))
def test_other_floats(
    device: str, dtype: type, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    tolerance = 2e-3 if dtype == np.float16 else 1e-10
    nodes = [
        helper.make_node(kind, ["a", "b"], [kind], name=kind) for kind in ("Add", "Mul", "Div")
    ]
    nodes += [helper.make_node(kind, ["a"], [kind], name=kind) for kind in ("Neg", "Abs", "Relu")]
    a, b = values(rng, shape, dtype), values(rng, shape, dtype, low=0.5)
    check(graph(nodes, {"a": a, "b": b}), device, tolerance, by_onnx)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
@examples(1)
@given(rng=generators)
def test_other_float_layers(device: str, dtype: type, rng: np.random.Generator) -> None:
    tolerance = 5e-3 if dtype == np.float16 else 1e-10
    x, w = values(rng, (1, 3, 6, 5), dtype), values(rng, (4, 3, 3, 3), dtype)
    check(node("Conv", x, w, constants=[1], pads=[1] * 4), device, tolerance, by_onnx)
    a, b = values(rng, (4, 9), dtype), values(rng, (9, 6), dtype)
    check(node("MatMul", a, b), device, tolerance, by_onnx)
    check(node("Softmax", a, axis=-1), device, tolerance, by_onnx)
