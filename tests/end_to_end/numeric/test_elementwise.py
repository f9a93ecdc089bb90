"""Elementwise operators: every kind, every element type they have, broadcasting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from onnx import helper

from support.onnx.single_node import (
    Case,
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

TOLERANCE = 3e-6
"""Of results that are joined, whose largest is up to 30 times what the others reach."""

# Operator, lowest and highest argument, attributes.
UNARY: tuple[tuple[str, float, float, dict[str, Any]], ...] = (
    ("Neg", -3, 3, {}),
    ("Abs", -3, 3, {}),
    ("Sign", -3, 3, {}),
    ("Floor", -3, 3, {}),
    ("Ceil", -3, 3, {}),
    ("Round", -3, 3, {}),
    ("Sqrt", 0, 3, {}),
    ("Reciprocal", 0.5, 3, {}),
    ("Exp", -3, 3, {}),
    ("Log", 0.1, 3, {}),
    ("Sin", -9, 9, {}),
    ("Cos", -9, 9, {}),
    ("Tan", -1, 1, {}),
    ("Asin", -1, 1, {}),
    ("Acos", -1, 1, {}),
    ("Atan", -9, 9, {}),
    ("Sinh", -3, 3, {}),
    ("Cosh", -3, 3, {}),
    ("Tanh", -3, 3, {}),
    ("Asinh", -9, 9, {}),
    ("Acosh", 1, 9, {}),
    ("Atanh", -0.9, 0.9, {}),
    ("Erf", -3, 3, {}),
    ("Relu", -3, 3, {}),
    ("Sigmoid", -9, 9, {}),
    ("Softplus", -9, 9, {}),
    ("Softsign", -9, 9, {}),
    ("HardSwish", -9, 9, {}),
    ("Mish", -9, 9, {}),
    ("LeakyRelu", -3, 3, {"alpha": 0.1}),
    ("LeakyRelu", -3, 3, {}),
    ("Elu", -3, 3, {"alpha": 1.5}),
    ("Selu", -3, 3, {}),
    ("Selu", -3, 3, {"alpha": 1.2, "gamma": 0.9}),
    ("Celu", -3, 3, {"alpha": 0.7}),
    ("HardSigmoid", -3, 3, {"alpha": 0.3, "beta": 0.4}),
    ("HardSigmoid", -3, 3, {}),
    ("ThresholdedRelu", -3, 3, {"alpha": 0.5}),
    ("Shrink", -3, 3, {"bias": 0.5, "lambd": 1.0}),
)


@pytest.mark.in_turns
@pytest.mark.parametrize("part", range(4))
@examples(2)
@given(rng=generators, shape=shapes(1, 3))
def test_unary(device: str, part: int, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    nodes, arrays = [], {}
    for i, (kind, low, high, attributes) in enumerate(UNARY[part::4]):
        nodes.append(helper.make_node(kind, [f"x{i}"], [f"y{i}"], name=f"{kind}{i}", **attributes))
        arrays[f"x{i}"] = values(rng, shape, low=low, high=high)
    check(joined(nodes, arrays), device, TOLERANCE)


@pytest.mark.in_turns
@examples(1)
@given(rng=generators)
def test_scalar(device: str, rng: np.random.Generator) -> None:
    check(node("Floor", values(rng, ())), device)


@pytest.mark.in_turns
@pytest.mark.parametrize("approximate", ["none", "tanh"])
@examples(1)
@given(rng=generators, shape=shapes())
def test_gelu(device: str, approximate: str, rng: np.random.Generator, shape: tuple) -> None:
    check(node("Gelu", values(rng, shape), opset=20, approximate=approximate), device)


@examples(2)
@given(rng=generators, shape=shapes(1, 2, 9))
def test_special_values(device: str, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    x = values(rng, shape)
    x.flat[:: max(1, x.size // 3)] = rng.choice([np.inf, -np.inf, np.nan])
    nodes = [
        helper.make_node("IsNaN", ["x"], ["y0"]),
        helper.make_node("IsInf", ["x"], ["y1"]),
        helper.make_node("IsInf", ["x"], ["y2"], detect_negative=0),
        helper.make_node("IsInf", ["x"], ["y3"], detect_positive=0),
    ]
    check(joined(nodes, {"x": x}), device)
    nodes = [helper.make_node(kind, ["x"], [kind]) for kind in ("Neg", "Abs")]
    check(graph(nodes, {"x": x}), device)


@pytest.mark.in_turns
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
@examples(1)
@given(rng=generators, shape=shapes())
def test_unary_integers(device: str, dtype: type, rng: np.random.Generator, shape: tuple) -> None:
    nodes = [helper.make_node(kind, ["x"], [kind]) for kind in ("Neg", "Abs", "Sign")]
    check(joined(nodes, {"x": values(rng, shape, dtype, -100, 100)}), device)


@st.composite
def broadcast_pairs(draw: st.DrawFn, low: int = 0) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast with each other as numpy's do, the result of rank `low` to 4."""
    shape = draw(shapes(low, 4))
    sides: list[tuple[int, ...]] = []
    for _ in range(2):
        kept = draw(st.integers(0, len(shape)))
        tail = shape[len(shape) - kept :]
        sides.append(tuple(1 if draw(st.booleans()) else extent for extent in tail))
    whole = draw(st.integers(0, 1))
    sides[whole] = shape
    return sides[0], sides[1]


COMPARE = ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
LOGIC = ("And", "Or", "Xor")
Pair = tuple[tuple[int, ...], tuple[int, ...]]


def _binary(kinds: tuple[str, ...], a: np.ndarray, b: np.ndarray) -> Case:
    nodes = [helper.make_node(kind, ["a", "b"], [kind], name=kind) for kind in kinds]
    return joined(nodes, {"a": a, "b": b})


@pytest.mark.in_turns
@examples(6)
@given(rng=generators, pair=broadcast_pairs())
def test_broadcast(device: str, rng: np.random.Generator, pair: Pair) -> None:
    check(node("Sub", values(rng, pair[0]), values(rng, pair[1])), device)


@pytest.mark.in_turns
@examples(2)
@given(rng=generators, pair=broadcast_pairs(1))
def test_binary(device: str, rng: np.random.Generator, pair: Pair) -> None:
    a, b = values(rng, pair[0], low=0.2), values(rng, pair[1], low=0.2)
    kinds = ("Add", "Sub", "Mul", "Div", "Pow", "Min", "Max")
    check(_binary(kinds, a, b), device, TOLERANCE)


@pytest.mark.in_turns
@examples(2)
@given(rng=generators, pair=broadcast_pairs(1))
def test_compare(device: str, rng: np.random.Generator, pair: Pair) -> None:
    a = values(rng, pair[0], np.int32).astype(np.float32)
    b = values(rng, pair[1], np.int32).astype(np.float32)
    check(_binary(COMPARE, a, b), device)


@pytest.mark.in_turns
@examples(2)
@given(rng=generators, pair=broadcast_pairs(1))
def test_logic(device: str, rng: np.random.Generator, pair: Pair) -> None:
    a, b = values(rng, pair[0], np.bool_), values(rng, pair[1], np.bool_)
    case = _binary(LOGIC, a, b)
    check(case, device)
    check(node("Not", a), device)


INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.mark.in_turns
@pytest.mark.parametrize("dtype", INTEGERS)
@examples(1)
@given(rng=generators, pair=broadcast_pairs(1))
def test_binary_integers(device: str, dtype: type, rng: np.random.Generator, pair: Pair) -> None:
    a = values(rng, pair[0], dtype, -50, 50)
    b = values(rng, pair[1], dtype, -7, 7)
    b[b == 0] = 3
    kinds = ("Add", "Sub", "Mul", "Min", "Max", "BitwiseAnd", "BitwiseOr", "BitwiseXor")
    check(_binary(kinds, a, b), device, reference=by_onnx)
    check(_binary(COMPARE, a, b), device, reference=by_onnx)
    divide = joined(
        [
            helper.make_node("Div", ["a", "b"], ["quotient"]),
            helper.make_node("BitwiseNot", ["quotient"], ["inverse"]),
            helper.make_node("Mod", ["a", "b"], ["modulo"]),
            helper.make_node("Mod", ["a", "b"], ["remainder"], fmod=1),
        ],
        {"a": a, "b": b},
    )
    check(divide, device, reference=by_onnx)


@pytest.mark.in_turns
@examples(1)
@given(rng=generators, pair=broadcast_pairs())
def test_float_remainder(device: str, rng: np.random.Generator, pair: Pair) -> None:
    a, b = values(rng, pair[0], low=-9, high=9), values(rng, pair[1], low=0.5)
    check(node("Mod", a, b, fmod=1), device)


@pytest.mark.in_turns
@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
@examples(1)
@given(rng=generators, pair=broadcast_pairs(1))
@example(rng=np.random.default_rng(0), pair=((), (2,)))
def test_shift(device: str, dtype: type, rng: np.random.Generator, pair: Pair) -> None:
    a, b = values(rng, pair[0], dtype, 0, 200), values(rng, pair[1], dtype, 0, 7)
    nodes = [
        helper.make_node("BitShift", ["a", "b"], [way], direction=way) for way in ("LEFT", "RIGHT")
    ]
    check(joined(nodes, {"a": a, "b": b}), device)


@pytest.mark.in_turns
@examples(2)
@given(rng=generators, shape=shapes(2, 4))
def test_prelu(device: str, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    slope = values(rng, (shape[1], *[1] * (len(shape) - 2)))
    check(node("PRelu", values(rng, shape), slope, constants=[1]), device)


@pytest.mark.in_turns
@examples(3)
@given(rng=generators, pair=broadcast_pairs(), scalar=st.booleans())
def test_where(device: str, rng: np.random.Generator, pair: Pair, scalar: bool) -> None:
    condition = values(rng, () if scalar else pair[0], np.bool_)
    for dtype in (np.float32, np.int64):
        case = node("Where", condition, values(rng, pair[0], dtype), values(rng, pair[1], dtype))
        check(case, device)


@pytest.mark.in_turns
@examples(2)
@given(rng=generators, shape=shapes(), sides=st.integers(0, 3))
def test_clip(device: str, rng: np.random.Generator, shape: tuple[int, ...], sides: int) -> None:
    for dtype in (np.float32, np.int32):
        low = np.array(-1, dtype) if sides & 1 else None
        high = np.array(1, dtype) if sides & 2 else None
        check(node("Clip", values(rng, shape, dtype), low, high, constants=[1, 2]), device)


@pytest.mark.in_turns
@examples(2)
@given(rng=generators, shape=shapes(), count=st.integers(1, 4))
def test_variadic(
    device: str, rng: np.random.Generator, shape: tuple[int, ...], count: int
) -> None:
    names = [f"x{i}" for i in range(count)]
    nodes = [helper.make_node(kind, names, [kind]) for kind in ("Sum", "Mean", "Max", "Min")]
    check(joined(nodes, {name: values(rng, shape) for name in names}), device)
