"""Loops with a condition computed at run time: on devices, they compute what onnxruntime does."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import onnx
import pytest

import clopt
from clopt.backends.pyopencl_runtime import CExecutable
from clopt.dialects import cl, tir
from support.onnx.branches import agree, feeds
from support.onnx.stopping import MODELS, THRESHOLDS, random_stopping, stopping

pytestmark = pytest.mark.in_turns


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.by_default(cases=1)
def test_stopping_loops(device: str, name: str, tmp_path: Path) -> None:
    compiled = clopt.compile(MODELS[name], device=device)
    assert not isinstance(compiled, clopt.DynamicModel)
    agree(compiled, MODELS[name], THRESHOLDS)
    compiled.save(tmp_path / "saved")
    agree(clopt.load(tmp_path / "saved", device=device), MODELS[name], THRESHOLDS)


@pytest.mark.parametrize("name", MODELS)
def test_c_packages_compute_the_same_bits(device: str, name: str) -> None:
    """A package returns the rows of all iterations and their number."""
    compiled = clopt.compile(MODELS[name], device=device)
    packaged = CExecutable(compiled.module, compiled.weights, device)
    names = [port.name for port in packaged.outputs]
    for seed, threshold in enumerate(THRESHOLDS):
        given = feeds(MODELS[name], seed, threshold)
        found = dict(zip(names, packaged.run(given), strict=True))
        for port, value in zip(compiled.outputs, compiled.run(given), strict=True):
            got, rows = found[port.name], found.get(f"{port.name}.size(0)")
            np.testing.assert_array_equal(got if rows is None else got[: int(rows)], value)


@pytest.mark.parametrize("seed", range(24))
def test_random_stopping_loops(device: str, seed: int) -> None:
    proto = random_stopping(seed)
    agree(clopt.compile(proto, device=device), proto, THRESHOLDS)


@pytest.mark.by_default(cases=1)
def test_kernels_of_iterations_are_conditional() -> None:
    """The kernels that select are the only ones that run after the end."""
    compiled = clopt.compile(stopping(1000), target="pocl")
    assert any(isinstance(op, cl.RepeatOp) for op in compiled.module.walk())
    kernels = [op for op in compiled.module.ops if isinstance(op, tir.FuncOp)]
    for operator in ("Softmax", "ReduceMax"):
        found = [op for op in kernels if op.comment and f"/{operator}_" in op.comment.data]
        assert found
        assert all(op.run_conditions for op in found)


HEAVY = onnx.parser.parse_model("""
    <ir_version: 9, opset_import: ["": 17]>
    g (float[256,256] x, float t) => (float[256,256] y) {
        n = Constant<value_int=30>()
        zero = Constant<value_float=0.0>()
        go = Less(zero, t)
        y = Loop (n, go, x) <
            body = b (int64 i, bool going, float[256,256] h)
                => (bool more, float[256,256] next) {
                k = MatMul(h, x)
                next = Tanh(k)
                f = Cast<to=1>(i)
                more = Less(f, t)
            }
        >
    }
""")


def test_iterations_after_the_end_take_little_time(device: str) -> None:
    """30 products of 17 million multiplications take longer than 30 copies of 256 KB."""
    compiled = clopt.compile(HEAVY, device=device)

    def seconds(threshold: float) -> float:
        given = feeds(HEAVY, 0, threshold)
        times: list[float] = []
        for _ in range(5):
            start = time.perf_counter()
            compiled.run(given)
            times.append(time.perf_counter() - start)
        return min(times)

    assert seconds(-1) < seconds(1e6) / 2
