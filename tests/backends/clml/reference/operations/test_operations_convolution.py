"""Convolutions of the CLML reference compared with onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from support.clml.reference.operations import MISSING, UNUSED, Driver, Operation, Tensor
from support.clml.reference.oracle import MODES, agrees, like, onnx_result, random


@dataclass(frozen=True)
class Case:
    """Shapes and attributes; pads are top, left, bottom, right."""

    x: tuple[int, int, int]
    filters: int
    kernel: tuple[int, int] = (3, 3)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    strides: tuple[int, int] = (1, 1)
    dilations: tuple[int, int] = (1, 1)
    kind: str = "CONVOLUTION"

    def weight(self, mode: str) -> np.ndarray:
        """In the reference's order."""
        channels = self.x[0]
        if self.kind == "DEPTHWISE":
            return random(mode, 1, channels, *self.kernel, seed=1)
        return random(mode, self.filters, channels, *self.kernel, seed=1)

    def onnx(self, x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
        """The result of onnxruntime, which orders weights differently."""
        shared = {"pads": self.pads, "strides": self.strides, "dilations": self.dilations}
        flat = None if bias is None else bias.reshape(-1)
        if self.kind == "TRANSPOSE":
            return onnx_result("ConvTranspose", x, weight.swapaxes(0, 1), flat, **shared)
        if self.kind == "DEPTHWISE":
            return onnx_result("Conv", x, weight.swapaxes(0, 1), flat, group=x.shape[1], **shared)
        return onnx_result("Conv", x, weight, flat, **shared)

    def integers(self, groups: int = 1) -> list[int | str]:
        """The descriptor."""
        mode = f"CONVOLUTION_MODE_{self.kind}"
        return [mode, groups, *self.pads, *self.strides, *self.dilations]


CASES = {
    "padded": Case((14, 10, 10), 4, pads=(1, 1, 1, 1)),
    "strided": Case((5, 11, 9), 7, (5, 5), strides=(2, 2)),
    "row": Case((4, 8, 8), 8, (1, 3), pads=(0, 1, 0, 1)),
    "column": Case((4, 8, 8), 8, (3, 1), pads=(1, 0, 1, 0)),
    "pointwise": Case((6, 5, 7), 5, (1, 1)),
    "asymmetric": Case((3, 9, 12), 6, (3, 2), (0, 1, 2, 0), (2, 3), (2, 1)),
    "depthwise": Case((11, 10, 8), 11, pads=(1, 1, 1, 1), kind="DEPTHWISE"),
    "depthwise_strided": Case((16, 9, 9), 16, (5, 3), (2, 2, 1, 0), (2, 1), (1, 2), "DEPTHWISE"),
    "transposed": Case((6, 7, 5), 3, (4, 4), (1, 1, 1, 1), (2, 2), kind="TRANSPOSE"),
    "transposed_odd": Case((3, 4, 6), 5, (3, 2), (1, 0, 0, 1), (3, 1), (1, 2), "TRANSPOSE"),
}


def parameters(mode: str, count: int, channels: int) -> list[np.ndarray]:
    """Mean, variance, scale and bias."""
    made = [random(mode, 1, channels, 1, 1, seed=10 + i) for i in range(count)]
    if count > 1:
        made[1] = np.abs(made[1]) + made[1].dtype.type(0.25)
    return made


def held(array: np.ndarray) -> Tensor:
    """A constant."""
    return Tensor(array, usage="PARAMETER")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_convolution(driver: Driver, name: str, mode: str) -> None:
    case = CASES[name]
    x, weight = random(mode, 1, *case.x), case.weight(mode)
    bias = random(mode, 1, case.filters, 1, 1, seed=2) if name != "row" else None
    wanted = case.onnx(x, weight, bias)
    y = like(x, wanted)
    absent = UNUSED if bias is None else held(bias)
    tensors = [Tensor(x), held(weight), absent, y]
    operation = Operation("convolution", case.integers(), tensors, arithmetic=mode)
    agrees(driver.run(operation), wanted, scale=8)


@pytest.mark.parametrize("missing", [UNUSED, MISSING])
@pytest.mark.parametrize("function", ["RELU", "RELU6"])
@pytest.mark.parametrize("name", ["asymmetric", "depthwise_strided", "transposed"])
def test_activation(driver: Driver, name: str, function: str, missing: int) -> None:
    case = CASES[name]
    x, weight = random("FP32", 1, *case.x), case.weight("FP32")
    bias = random("FP32", 1, case.filters, 1, 1, seed=2)
    limits = (0, 6 if function == "RELU6" else np.inf)
    wanted = np.clip(case.onnx(x, weight, bias), *limits)
    tensors = [Tensor(x), held(weight), held(bias), missing, like(x, wanted)]
    integers = [*case.integers(), f"ACTIVATION_{function}"]
    agrees(driver.run(Operation("convolution_activation", integers, tensors)), wanted, scale=8)


def normalized(x: np.ndarray, parameters: Sequence[np.ndarray], epsilon: float) -> np.ndarray:
    """Batch normalisation."""
    mean, variance, scale, bias = (array.reshape(-1) for array in parameters)
    return onnx_result("BatchNormalization", x, scale, bias, mean, variance, epsilon=epsilon)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("epsilon", [None, 0.125])
@pytest.mark.parametrize("activated", [False, True])
def test_batch_norm(driver: Driver, activated: bool, epsilon: float | None, mode: str) -> None:
    case = CASES["asymmetric"]
    x, weight = random(mode, 1, *case.x), case.weight(mode)
    bias, *norm = parameters(mode, 1, 6) + parameters(mode, 4, 6)
    wanted = normalized(case.onnx(x, weight, bias), norm, 1e-5 if epsilon is None else epsilon)
    wanted = wanted.clip(0, 6) if activated else wanted
    operation = Operation(
        "convolution_batch_norm_activation" if activated else "convolution_batch_norm",
        [*case.integers(), "ACTIVATION_RELU6"],
        [
            *(Tensor(x), held(weight), held(bias), like(x, wanted)),
            *([UNUSED] if activated else []),
            *map(held, norm),
        ],
        properties=None if epsilon is None else {"ML_BATCH_NORM_OP_EPSILON": epsilon},
        arithmetic=mode,
        result=3,
    )
    agrees(driver.run(operation), wanted, scale=8)


def test_wait_list_and_event(driver: Driver) -> None:
    case = CASES["row"]
    x, weight = random("FP32", 1, *case.x), case.weight("FP32")
    wanted = case.onnx(x, weight, None)
    tensors = [Tensor(x), held(weight), UNUSED, like(x, wanted)]
    operation = Operation("convolution", case.integers(), tensors, waits=True)
    agrees(driver.run(operation), wanted, scale=8)
