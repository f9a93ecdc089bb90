"""Elementwise operators become one nn operation each, which computes onnxruntime's value."""

from __future__ import annotations

import numpy as np
import pytest

from support.onnx.models import agree, load, model

UNARY = {
    **{
        name: (7, name.lower())
        for name in ("Abs", "Ceil", "Cos", "Exp", "Floor", "Neg", "Relu", "Sigmoid", "Sin")
    },
    **{name: (7, name.lower()) for name in ("Softplus", "Softsign", "Tan", "Tanh", "Atan")},
    **{name: (9, name.lower()) for name in ("Asinh", "Cosh", "Erf", "IsNaN", "Sign", "Sinh")},
    "Reciprocal": (7, "reciprocal"),
    "Round": (11, "round"),
    "HardSwish": (14, "hard_swish"),
    "Mish": (18, "mish"),
    "Gelu": (20, "gelu"),
    'Gelu<approximate="tanh">': (20, "gelu_tanh"),
    "LeakyRelu<alpha=0.3>": (7, "leaky_relu"),
    "Elu": (7, "elu"),
    "Selu": (7, "selu"),
    "Celu<alpha=0.7>": (12, "celu"),
    "HardSigmoid": (7, "hard_sigmoid"),
    "ThresholdedRelu<alpha=0.4>": (10, "thresholded_relu"),
    "Shrink<bias=0.2, lambd=0.6>": (9, "shrink"),
    "IsInf<detect_negative=0>": (10, "isinf"),
}


@pytest.mark.parametrize("operator", UNARY)
def test_unary(operator: str):
    opset, kind = UNARY[operator]
    imported = agree(model("float[3,4] x", f"y = {operator}(x)", opset))
    assert imported.ops() == [f"unary {kind}"]


BINARY = {
    "Add": ("float", "binary add"),
    "Sub": ("int32", "binary sub"),
    "Mul": ("float", "binary mul"),
    "Div": ("float", "binary div"),
    "Max": ("float", "binary max"),
    "Min": ("int64", "binary min"),
    "And": ("bool", "binary and"),
    "Or": ("bool", "binary or"),
    "Xor": ("bool", "binary xor"),
    "Mod<fmod=1>": ("float", "binary fmod"),
    "BitwiseAnd": ("int32", "binary bit_and"),
    "Equal": ("int64", "compare eq"),
    "Less": ("float", "compare lt"),
    "GreaterOrEqual": ("float", "compare ge"),
}


@pytest.mark.parametrize("operator", BINARY)
def test_binary_broadcasts(operator: str):
    element, name = BINARY[operator]
    imported = agree(model(f"{element}[2,1,4] a, {element}[3,1] b", f"y = {operator}(a, b)"))
    assert imported.ops() == [name]


@pytest.mark.parametrize("element", ["int32", "uint8"])
def test_mod_has_the_sign_of_the_divisor(element: str):
    dtype = np.dtype(element)
    numbers = np.array([-7, -3, 5, 7], np.int64).astype(dtype)
    divisors = np.array([3, -2, -3, 4] if dtype.kind == "i" else [3, 2, 3, 4], dtype)
    proto = model(f"{element}[4] a, {element}[4] b", "y = Mod(a, b)")
    agree(proto, {"a": numbers, "b": divisors})


@pytest.mark.parametrize(("base", "exponent"), [("float", "int64"), ("int32", "float")])
def test_pow_keeps_the_type_of_the_base(base: str, exponent: str):
    proto = model(f"{base}[4] a, {exponent}[4] b", "y = Pow(a, b)")
    feeds = {"a": np.array([1, 2, 3, 4]), "b": np.array([2, 3, 0, 1])}
    types = {"float": np.float32, "int64": np.int64, "int32": np.int32}
    agree(proto, {"a": feeds["a"].astype(types[base]), "b": feeds["b"].astype(types[exponent])})


def test_variadic_is_a_chain():
    imported = agree(model("float[2,3] a, float[3] b, float[2,1] c", "y = Mean(a, b, c)"))
    assert imported.ops() == ["binary add", "binary add", "binary div"]


def test_clip_with_constant_bounds_has_properties():
    proto = model("float[2,3] x", "y = Clip(x, l, h)", constants={"l": -0.5, "h": 1.0})
    assert agree(proto).ops() == ["clip"]


def test_clip_with_computed_bounds_is_max_and_min():
    feeds = {
        "x": np.array([[-3.0, 0.25, 3.0]], np.float32),
        "l": np.array(-1, np.float32),
        "h": np.array(2, np.float32),
    }
    imported = agree(model("float[1,3] x, float l, float h", "y = Clip(x, l, h)"), feeds)
    assert imported.ops() == ["binary max", "binary min"]


def test_clip_of_opset_6_has_attributes():
    assert agree(model("float[2,3] x", "y = Clip<min=0.0>(x)", 7)).ops() == ["clip"]


@pytest.mark.parametrize("to", ["float16", "double", "int32", "uint8", "bool"])
def test_cast(to: str):
    number = {"float16": 10, "double": 11, "int32": 6, "uint8": 2, "bool": 9}[to]
    proto = model("float[4] x", f"y = Cast<to={number}>(x)")
    assert agree(proto, {"x": np.array([0.0, 1.7, 2.0, 255.9], np.float32)}).ops() == ["cast"]


def test_cast_to_the_own_type_vanishes():
    assert load(model("float[4] x", "y = Cast<to=1>(x)")).ops() == []


def test_bit_shift_by_the_width_is_defined():
    proto = model("uint8[4] x, uint8[4] n", 'y = BitShift<direction="RIGHT">(x, n)')
    feeds = {"x": np.array([255] * 4, np.uint8), "n": np.array([0, 7, 8, 200], np.uint8)}
    imported = load(proto)
    assert imported.run(*feeds.values())[0].tolist() == [255, 1, 0, 0]


def test_where_and_not():
    imported = agree(model("bool[2,1] c, float[3] a, float b", "n = Not(c) y = Where(n, a, b)"))
    assert imported.ops() == ["unary logical_not", "where"]


@pytest.mark.parametrize(
    ("inputs", "node"),
    [
        ("float[2,3,4] a, float[3] b", "y = Add<broadcast=1, axis=1>(a, b)"),
        ("float[2,3,4] a, float[3,4] b", "y = Mul<broadcast=1>(a, b)"),
        ("float[2,3,4] a, float[3] b", "y = PRelu(a, b)"),
    ],
)
def test_broadcasting_of_opset_6(inputs: str, node: str):
    # onnxruntime no longer reads opset 6, so numpy says what is right.
    imported = load(model(inputs, node, 6))
    rng = np.random.default_rng(0)
    a = rng.standard_normal((2, 3, 4), np.float32)
    b = rng.standard_normal((3, 4) if "[3,4]" in inputs else 3, np.float32)
    column = b if b.ndim == 2 else b[:, None]
    expected = {"Add": a + column, "Mul": a * column, "PRel": np.where(a < 0, a * column, a)}
    np.testing.assert_allclose(imported.run(a, b)[0], expected[node[4:8].rstrip("<(")], rtol=1e-6)
