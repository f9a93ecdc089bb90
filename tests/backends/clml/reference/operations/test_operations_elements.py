"""Elementwise operations and normalisations of the CLML reference."""

from __future__ import annotations

import numpy as np
import pytest

from support.clml.reference.operations import MISSING, UNUSED, Driver, Operation, Tensor
from support.clml.reference.oracle import MODES, agrees, like, onnx_result, random

SHAPE = (1, 7, 5, 6)
LAYOUTS = ("OPTIMAL", "NCHW", "NHWC")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("function", "layout", "absent"),
    [
        ("RELU", "OPTIMAL", UNUSED),
        ("RELU6", "NCHW", MISSING),
        ("SIGMOID", "NHWC", UNUSED),
        ("TANH", "OPTIMAL", UNUSED),
    ],
)
def test_activation(driver: Driver, function: str, layout: str, absent: int, mode: str) -> None:
    x = random(mode, *SHAPE) * 4
    kind = {"RELU": "Relu", "RELU6": "Relu", "SIGMOID": "Sigmoid", "TANH": "Tanh"}[function]
    wanted = onnx_result(kind, x).clip(None, 6 if function == "RELU6" else None)
    tensors = [Tensor(x, layout), absent, like(x, wanted, layout)]
    operation = Operation("activation", [f"ACTIVATION_{function}"], tensors, arithmetic=mode)
    agrees(driver.run(operation), wanted)


@pytest.mark.parametrize("mode", MODES)
def test_activations_propagate_nan(driver: Driver, mode: str) -> None:
    x = random(mode, *SHAPE)
    x[0, 2, 1] = np.nan
    for function in ("RELU", "RELU6", "SIGMOID", "TANH"):
        tensors = [Tensor(x), UNUSED, like(x, x)]
        operation = Operation("activation", [f"ACTIVATION_{function}"], tensors, arithmetic=mode)
        np.testing.assert_array_equal(np.isnan(driver.run(operation)), np.isnan(x))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_clip(driver: Driver, layout: str, mode: str) -> None:
    x = random(mode, *SHAPE)
    wanted = x.astype(np.float32).clip(-0.5, 0.75)
    tensors = [Tensor(x, layout), like(x, wanted, layout)]
    operation = Operation("clip", [], tensors, floats=[0.75, -0.5], arithmetic=mode)
    agrees(driver.run(operation), wanted)


FUNCTIONS = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "DIV": np.divide,
    "MIN": np.minimum,
    "MAX": np.maximum,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_binary(driver: Driver, kind: str, mode: str) -> None:
    """With all factors; without gamma the old content of the result, NaN, does not matter."""
    layout = LAYOUTS[list(FUNCTIONS).index(kind) % 3]
    a, b, c = (random(mode, *SHAPE, seed=i) for i in range(3))
    for alpha, beta, gamma in ((1.0, 1.0, 0.0), (0.5, -2.0, 0.25)):
        old = c if gamma else np.full_like(c, np.nan)
        first, second, third = (array.astype(np.float32) for array in (a, b, c))
        wanted = FUNCTIONS[kind](alpha * first, beta * second) + gamma * third
        tensors = [Tensor(a, layout), Tensor(b, layout), Tensor(old, layout)]
        operation = Operation(
            "binary", [f"TENSOR_OP_{kind}"], tensors, floats=(alpha, beta, gamma), arithmetic=mode
        )
        agrees(driver.run(operation), wanted, scale=2)


@pytest.mark.parametrize("mode", MODES)
def test_bias_is_added_in_place(driver: Driver, mode: str) -> None:
    """The second operand may be the unused tensor."""
    a, c = random(mode, 1, 10, 1, 1), random(mode, 1, 10, 1, 1, seed=1)
    operation = Operation(
        "binary", ["TENSOR_OP_ADD"], [Tensor(a), UNUSED, Tensor(c)], floats=(1, 1, 1)
    )
    agrees(driver.run(operation), a.astype(np.float32) + c.astype(np.float32))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("epsilon", [None, 0.5])
def test_batch_norm(driver: Driver, epsilon: float | None, mode: str) -> None:
    x = random(mode, *SHAPE)
    mean, variance, scale, bias = (random(mode, 1, 7, 1, 1, seed=i) for i in range(4))
    variance = np.abs(variance)
    flat = (array.reshape(-1) for array in (scale, bias, mean, variance))
    used = 1e-5 if epsilon is None else epsilon
    wanted = onnx_result("BatchNormalization", x, *flat, epsilon=used)
    parameters = [Tensor(array, usage="PARAMETER") for array in (mean, variance, scale, bias)]
    operation = Operation(
        "batch_norm",
        [],
        [Tensor(x), *parameters, like(x, wanted)],
        properties=None if epsilon is None else {"ML_BATCH_NORM_OP_EPSILON": epsilon},
        arithmetic=mode,
    )
    agrees(driver.run(operation), wanted, scale=4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("shape", "layout", "over"),
    [
        ((1, 1000, 1, 1), "OPTIMAL", "SPATIAL"),
        ((1, 5, 3, 4), "NCHW", "SPATIAL"),
        ((1, 5, 1, 1), "OPTIMAL", "INSTANCE"),
        ((1, 5, 3, 4), "NCHW", "INSTANCE"),
    ],
)
def test_softmax(
    driver: Driver, shape: tuple[int, int, int, int], layout: str, over: str, mode: str
) -> None:
    x = random(mode, *shape) * 20  # exp of these overflows unless the maximum is subtracted first
    flat = x.reshape(1, -1) if over == "INSTANCE" else x
    wanted = onnx_result("Softmax", flat, axis=1).reshape(shape)
    tensors = [Tensor(x, layout), like(x, wanted, layout)]
    operation = Operation("softmax", [f"SOFTMAX_MODE_{over}"], tensors, arithmetic=mode)
    agrees(driver.run(operation), wanted, scale=0.1)
