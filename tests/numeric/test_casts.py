"""Casts between every pair of element types, and arithmetic in half and double."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from onnx import helper
from single_node import (
    ELEMENT_TYPES,
    by_onnx,
    check,
    examples,
    generators,
    graph,
    node,
    shapes,
    values,
)


@pytest.mark.parametrize("source", list(ELEMENT_TYPES), ids=str)
@examples(1)
@given(rng=generators, shape=shapes(0, 3))
def test_cast(
    device: str, source: np.dtype, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    nodes = [
        helper.make_node("Cast", ["x"], [str(target)], name=str(target), to=number)
        for target, number in ELEMENT_TYPES.items()
        if target != source
    ]
    low = 0 if source.kind == "u" else -100
    unsigned = {"uint8", "uint16", "uint32", "uint64"}
    if source.kind == "f":  # a negative float has no unsigned value
        nodes = [n for n in nodes if n.name not in unsigned]
    check(graph(nodes, {"x": values(rng, shape, source, low, 100)}), device, reference=by_onnx)


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
