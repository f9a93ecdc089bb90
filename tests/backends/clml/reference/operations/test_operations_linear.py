"""Matrix products of the CLML reference."""

from __future__ import annotations

import numpy as np
import pytest

from support.clml.reference.operations import UNUSED, Driver, Operation, Tensor
from support.clml.reference.oracle import MODES, agrees, like, onnx_result, random


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transform", ["NONE", "TRANSPOSE"])
@pytest.mark.parametrize("biased", [False, True])
def test_fully_connected(driver: Driver, biased: bool, transform: str, mode: str) -> None:
    inputs, outputs = 30, 17
    x, bias = random(mode, 1, inputs, 1, 1), random(mode, 1, outputs, 1, 1)
    shape = (inputs, outputs) if transform == "NONE" else (outputs, inputs)
    weight = random(mode, 1, 1, *shape)
    wanted = onnx_result(
        "Gemm",
        x.reshape(1, -1),
        weight.reshape(shape),
        bias.reshape(-1) if biased else None,
        transB=int(transform == "TRANSPOSE"),
    ).reshape(1, outputs, 1, 1)
    parameter = Tensor(bias, usage="PARAMETER") if biased else UNUSED
    tensors = [Tensor(x), Tensor(weight, usage="PARAMETER"), parameter, like(x, wanted)]
    integers = [f"FC_WEIGHT_TRANSFORM_{transform}", 1]
    operation = Operation("fully_connected", integers, tensors, arithmetic=mode)
    agrees(driver.run(operation), wanted, scale=8)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("a_kind", ["NONE", "TRANSPOSE"])
@pytest.mark.parametrize("b_kind", ["NONE", "TRANSPOSE"])
def test_gemm(driver: Driver, a_kind: str, b_kind: str, mode: str) -> None:
    """With beta the old result counts; without it even its NaNs do not."""
    m, n, k = 6, 9, 13
    a = random(mode, *((m, k) if a_kind == "NONE" else (k, m)))
    b = random(mode, *((k, n) if b_kind == "NONE" else (n, k)))
    c = random(mode, m, n, seed=2)
    for alpha, beta in ((1.0, 0.0), (0.5, -2.0)):
        wanted = onnx_result(
            *("Gemm", a, b, c if beta else None),
            **{"alpha": alpha, "transA": int(a_kind != "NONE"), "transB": int(b_kind != "NONE")},
            **({"beta": beta} if beta else {}),
        )
        old = c if beta else np.full_like(c, np.nan)
        tensors = [
            Tensor(a.reshape(*a.shape, 1, 1), "NCHW"),
            Tensor(b.reshape(1, 1, *b.shape), "NCHW"),
            Tensor(old.reshape(m, n, 1, 1), "NCHW"),
        ]
        words = [f"GEMM_TRANSFORM_{kind}" for kind in (a_kind, b_kind)]
        operation = Operation(
            "gemm", [m, n, k, *words], tensors, floats=(alpha, beta), arithmetic=mode
        )
        agrees(driver.run(operation).reshape(m, n), wanted, scale=8)
