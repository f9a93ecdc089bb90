"""A quantised network computes what integers with shifts do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from clopt.context import CloptContext
from clopt.dialects import nn
from clopt.dialects.cl import Target, set_target
from clopt.dialects.nn.evaluation import interpret
from clopt.errors import CloptError
from clopt.passes.nn.quantization.plan import plan_of, site_names
from clopt.passes.nn.quantization.scales import power_of_two, set_ranges
from clopt.passes.nn.quantize import NNQuantizePass
from clopt.targets import with_facts
from support.tir.harness import examples

RANGES = {"x": 3.5, "relu": 6.0}


def network(w1: np.ndarray, b1: np.ndarray, w2: np.ndarray) -> ModuleOp:
    """Two products with a rectifier between them."""
    block = Block(arg_types=[nn.array_type(np.zeros((4, w1.shape[0]), "f4"))])
    (x,) = block.args
    x.name_hint = "x"
    constants = [nn.ConstantOp.from_array(array) for array in (w1, b1, w2)]
    first = nn.MatmulOp(x, constants[0].result)
    biased = nn.BinaryOp(first.result, constants[1].result, "add")
    relu = nn.UnaryOp(biased.result, "relu")
    relu.result.name_hint = "relu"
    second = nn.MatmulOp(relu.result, constants[2].result)
    block.add_ops([*constants, first, biased, relu, second, func.ReturnOp(second.result)])
    types = [x.type], [second.result.type]
    return ModuleOp([func.FuncOp("main", types, Region(block))])


def function_of(module: ModuleOp) -> func.FuncOp:
    (function,) = nn.networks_of(module)
    return function


def shift_of(scale: float) -> int:
    return -round(math.log2(scale))


def steps(array: np.ndarray, shift: int, limit: int) -> np.ndarray:
    rounded = np.floor(np.ldexp(array.astype("f8"), shift) + 0.5).astype("i8")
    return np.clip(rounded, -limit, limit)


@examples(20)
@given(seed=st.integers(0, 2**16))
def test_products_are_integers_and_shifts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    w1, w2 = (rng.normal(size=(6, 5)) * 0.7).astype("f4"), rng.normal(size=(5, 3)).astype("f4")
    b1 = rng.normal(size=5).astype("f4")
    x = rng.normal(size=(4, 6)).astype("f4") * 2
    module = network(w1, b1, w2)
    set_ranges(function_of(module), RANGES)
    NNQuantizePass(shifts=True).apply(CloptContext(), module)
    module.verify()
    (found,) = interpret(function_of(module), [x])
    s_x, s_1, s_2 = 5, *(7 - math.ceil(math.log2(np.abs(w).max())) for w in (w1, w2))
    s_relu = 7 - 3
    q = np.clip(np.floor(np.ldexp(x.astype("f8"), s_x) + 0.5), -128, 127).astype("i8")
    sums = q.astype("i8") @ steps(w1, s_1, 127) + steps(b1, s_x + s_1, 2**31 - 1)
    drop = s_x + s_1 - s_relu
    hidden = np.clip(np.maximum(sums + (1 << (drop - 1)) >> drop, 0), -128, 127)
    expected = np.ldexp((hidden @ steps(w2, s_2, 127)).astype("f8"), -(s_relu + s_2))
    np.testing.assert_array_equal(found, expected.astype("f4"))


@pytest.mark.parametrize(
    ("target", "shifts"), [(Target(), False), (with_facts(Target(), {"vta": "prefer"}), True)]
)
def test_scales_are_powers_of_two_where_an_accelerator_needs_them(
    target: Target, shifts: bool
) -> None:
    """Other scales end at the range, with 127 steps, and halves go to even, as in ONNX."""
    rng = np.random.default_rng(0)
    w1, w2 = (rng.normal(size=(6, 5)) * 0.7).astype("f4"), rng.normal(size=(5, 3)).astype("f4")
    module = network(w1, rng.normal(size=5).astype("f4"), w2)
    set_ranges(function_of(module), RANGES)
    set_target(module, target)
    NNQuantizePass().apply(CloptContext(), module)
    rounded = [op for op in module.walk() if isinstance(op, nn.QuantizeOp)]
    scales = [nn.constant_value(op.scale) for op in rounded]
    expected = [1 / 32, 1 / 16] if shifts else [3.5 / 127, 6.0 / 127]
    np.testing.assert_array_equal(scales, np.array(expected, "f4"))
    kind = nn.Rounding.HALF_UP if shifts else nn.Rounding.HALF_EVEN
    assert {op.rounding.data for op in rounded} == {kind}
    weights = [
        nn.constant_value(op.q)
        for op in module.walk()
        if isinstance(op, nn.DequantizeOp) and nn.constant_value(op.q) is not None
    ]
    largest = [int(np.abs(each).max()) for each in weights if each is not None and each.ndim == 2]
    assert (largest == [127, 127]) is not shifts


def test_scales_reach_what_they_are_for() -> None:
    assert [power_of_two(largest) for largest in (8.0, 7.9, 8.1, 0.0)] == [
        1 / 16,
        1 / 16,
        1 / 8,
        1 / 128,
    ]


def test_values_without_a_range_are_named() -> None:
    ones = np.ones((2, 2), "f4")
    module = network(ones, ones[0], ones)
    set_ranges(function_of(module), {"x": 1.0})
    with pytest.raises(CloptError, match="has no range for relu; calibrate"):
        NNQuantizePass().apply(CloptContext(), module)
    set_ranges(function_of(module), {"x": math.inf, "relu": 1.0})
    with pytest.raises(CloptError, match="x reaches inf on the calibration data"):
        NNQuantizePass().apply(CloptContext(), module)


def test_sites_have_names() -> None:
    ones = np.ones((2, 2), "f4")
    function = function_of(network(ones, ones[0], ones))
    assert site_names(function, plan_of(function)) == ["x", "relu"]
