"""Reductions in parts, by two kernels each, on runtimes of CPUs and in the C package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from clopt.backends.pyopencl_runtime import CExecutable, Executable
from support.onnx.single_node import Case, by_onnxruntime, ints, node
from support.tir.split import compile_split

TARGETS = ("pocl", "nvidia texture=off", "nvidia texture=prefer", "adreno-740 texture=prefer")


def _compare(found: Sequence[np.ndarray], expected: Sequence[Any]) -> None:
    for g, e in zip(found, expected, strict=True):
        if g.dtype.kind == "f":
            np.testing.assert_allclose(g, e, rtol=1e-4, atol=1e-5)
        else:
            np.testing.assert_array_equal(g, e)


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(2).standard_normal(shape).astype(np.float32)


CASES: dict[str, Case] = {
    "mean": node("ReduceMean", random(2, 70, 33), ints(1, 2), constants=[1]),
    "columns": node("ReduceSum", random(67, 5), ints(0), constants=[1]),
    "largest": node("ReduceMax", random(3, 500), ints(1), constants=[1]),
    "its position": node("ArgMax", random(3, 401), axis=1, keepdims=0),
    "product": node("MatMul", random(3, 203), random(203, 5), constants=[1]),
    "softmax": node("Softmax", random(2, 301), axis=1),
    "norm": node(
        "LayerNormalization", random(3, 130), random(130), random(130), constants=[1, 2], axis=-1
    ),
    "convolution": node(
        "Conv", random(1, 24, 7, 7), random(8, 24, 3, 3), random(8), constants=[1, 2],
        pads=[1, 1, 1, 1],
    ),
}  # fmt: skip


GRID = [
    pytest.param(name, parts, target, marks=() if (i + j + k) % 2 else pytest.mark.long)
    for i, name in enumerate(CASES)
    for j, parts in enumerate((2, 5))
    for k, target in enumerate(TARGETS)
]
"""All pairs of two of the three."""


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize(("name", "parts", "target"), GRID)
def test_split(name: str, parts: int, target: str, device: str) -> None:
    case = CASES[name]
    compiled, count = compile_split(case.model, target, parts)
    assert count
    executable = Executable(compiled.module, compiled.weights, device, source=compiled.source)
    _compare(executable.run(case.feeds), by_onnxruntime(case.model, case.feeds))


def test_c_package(device: str) -> None:
    case = CASES["convolution"]
    compiled, _ = compile_split(case.model, "nvidia texture=off", 6)
    executable = CExecutable(compiled.module, compiled.weights, device, source=compiled.source)
    _compare(executable.run(case.feeds), by_onnxruntime(case.model, case.feeds))
