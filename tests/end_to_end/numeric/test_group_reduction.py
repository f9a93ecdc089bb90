"""Kernels of GPU targets whose work-groups reduce rows together, on runtimes of CPUs.

These run work-groups, local memory and barriers as any device does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import clopt
from clopt.backends.pyopencl_runtime import Executable
from support.onnx.single_node import Case, by_onnxruntime, ints, node


def check(case: Case, devices: Mapping[str, str]) -> None:
    """Compare with onnxruntime on every device; they have the same kernels."""
    expected = by_onnxruntime(case.model, case.feeds)
    compiled = clopt.compile(case.model, target="nvidia")
    for device in devices.values():
        executable = Executable(compiled.module, compiled.weights, device, source=compiled.source)
        for g, e in zip(executable.run(case.feeds), expected, strict=True):
            if g.dtype.kind == "f":
                np.testing.assert_allclose(g, e, rtol=1e-4, atol=1e-5)
            else:
                np.testing.assert_array_equal(g, e)


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(2).standard_normal(shape).astype(np.float32)


REDUCTIONS: list[tuple[str, Sequence[int], Sequence[int]]] = [
    ("ReduceMean", (1, 3, 72, 128), (1,)),
    ("ReduceMax", (1, 3, 72, 128), (1,)),
    ("ReduceSum", (1, 3, 72, 128), (1, 2)),
    ("ReduceSum", (2, 5, 33, 7), (0, 2)),
    ("ReduceSumSquare", (4, 1000), (1,)),
    ("ReduceL2", (64, 100), (1,)),
    ("ReduceMin", (1, 4097), (1,)),
    ("ReduceMean", (64, 5), (1,)),
    ("ReduceLogSumExp", (3, 257), (0, 1)),
]


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize(("kind", "shape", "axes"), REDUCTIONS)
def test_reductions(kind: str, shape: Sequence[int], axes: Sequence[int], device: str) -> None:
    check(node(kind, random(*shape), ints(*axes), constants=[1]), {device: device})


NORMS: list[tuple[str, Sequence[Sequence[int]], dict[str, Any]]] = [
    ("Softmax", [(1, 21, 33, 33)], {"axis": 1}),
    ("Softmax", [(3, 4097)], {"axis": -1}),
    ("Softmax", [(64, 2, 5)], {"axis": -1}),
    ("LogSoftmax", [(1, 1000)], {"axis": -1}),
    ("LayerNormalization", [(1, 4, 33, 35), (33, 35), (33, 35)], {"axis": 2}),
    ("LayerNormalization", [(7, 100), (100,), (100,)], {}),
    ("InstanceNormalization", [(2, 3, 20, 9), (3,), (3,)], {}),
    ("GlobalAveragePool", [(1, 32, 40, 40)], {}),
    ("GlobalAveragePool", [(1, 256, 20, 20)], {}),
    ("GlobalMaxPool", [(64, 3, 7, 7)], {}),
    ("AveragePool", [(1, 3, 243, 81)], {"kernel_shape": [27, 27], "strides": [27, 27]}),
    ("ArgMax", [(1, 3, 72, 128)], {"axis": 1}),
    ("ArgMin", [(2, 1000)], {"axis": 1}),
    ("ArgMax", [(700, 3)], {"axis": 0, "select_last_index": 1}),
    ("MatMul", [(1, 700), (700, 5)], {}),
    ("Gemm", [(1, 700), (5, 700), (5,)], {"transB": 1}),
]


@pytest.mark.in_turns
@pytest.mark.parametrize(("kind", "shapes", "attributes"), NORMS)
def test_nodes(
    kind: str, shapes: Sequence[Sequence[int]], attributes: dict[str, Any], device: str
) -> None:
    check(node(kind, *(random(*shape) for shape in shapes), **attributes), {device: device})


def test_the_first_of_equal_elements(devices: Mapping[str, str]) -> None:
    x = np.zeros((2, 1000), np.float32)
    x[0, [300, 301, 556]] = 1
    check(node("ArgMax", x, axis=1), devices)
    check(node("ArgMax", x, axis=1, select_last_index=1), devices)
