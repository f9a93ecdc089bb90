"""Branches on devices: results are those of the branch taken, and the other one does not run."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import onnx
import pytest

import clopt
from clopt.backends.pyopencl_runtime import CExecutable
from clopt.dialects import tir
from support.onnx.branches import (
    MODELS,
    NESTED,
    SEVERAL,
    agree,
    around_loop,
    feeds,
    random_branches,
)

pytestmark = pytest.mark.in_turns

THRESHOLDS = (-2.0, 2.0, 0.0, -0.1, 2.0)
"""Below and above every mean, so that branches take turns."""


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.by_default(cases=2)
def test_branches(device: str, name: str, tmp_path: Path) -> None:
    compiled = clopt.compile(MODELS[name], device=device)
    assert not isinstance(compiled, clopt.DynamicModel)
    agree(compiled, MODELS[name], THRESHOLDS)
    compiled.save(tmp_path / "saved")
    agree(clopt.load(tmp_path / "saved", device=device), MODELS[name], THRESHOLDS)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.by_default(cases=1)
def test_c_packages_compute_the_same_bits(device: str, name: str) -> None:
    compiled = clopt.compile(MODELS[name], device=device)
    packaged = CExecutable(compiled.module, compiled.weights, device)
    for seed, threshold in enumerate(THRESHOLDS):
        given = feeds(MODELS[name], seed, threshold)
        for got, value in zip(packaged.run(given), compiled.run(given), strict=True):
            np.testing.assert_array_equal(got, value)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.by_default(cases=1)
def test_branches_in_textures(device: str, name: str) -> None:
    compiled = clopt.compile(MODELS[name], target="adreno-740 texture=prefer", device=device)
    agree(compiled, MODELS[name], THRESHOLDS)


def launches(proto: onnx.ModelProto, name: str) -> dict[str, bool]:
    """Compile for PoCL; return whether each kernel whose comment contains `name` is conditional."""
    compiled = clopt.compile(proto, target="pocl")
    return {
        op.sym_name.data: bool(op.run_conditions)
        for op in compiled.module.ops
        if isinstance(op, tir.FuncOp) and op.comment is not None and name in op.comment.data
    }


@pytest.mark.parametrize(
    ("proto", "operators"),
    [
        (SEVERAL, ["MatMul", "ReduceSum", "ReduceMax", "Softmax", "ReduceMin"]),
        (NESTED, ["Relu", "Sub", "Less", "Exp", "Softmax"]),
        (around_loop(6), ["Mul", "Sin", "Softmax"]),
        (around_loop(2), ["Mul", "Sin", "Softmax"]),
    ],
    ids=["several results", "nested", "around a long loop", "around a short loop"],
)
@pytest.mark.by_default(cases=1)
def test_kernels_of_branches_are_conditional(proto: onnx.ModelProto, operators: list[str]) -> None:
    for operator in operators:
        found = launches(proto, f"/{operator}_")
        assert found, operator
        assert all(found.values()), (operator, found)


HEAVY = onnx.parser.parse_model("""
    <ir_version: 9, opset_import: ["": 17]>
    g (float[256,256] x, float t) => (float[256,256] y) {
        s = ReduceMean<keepdims=0>(x)
        c = Greater(s, t)
        n = Constant<value_int=30>()
        go = Constant<value = bool {1}>()
        y = If (c) <
            then_branch = a () => (float[256,256] p) {
                p = Loop (n, go, x) <
                    body = b (int64 i, bool going, float[256,256] h)
                        => (bool more, float[256,256] next) {
                        more = Identity(going)
                        k = MatMul(h, x)
                        next = Tanh(k)
                    }
                >
            },
            else_branch = e () => (float[256,256] q) { q = Relu(x) }
        >
    }
""")


@pytest.mark.by_default(cases=1)
def test_the_branch_that_is_not_taken_takes_no_time(device: str) -> None:
    """30 products of 17 million multiplications are no small part of the time."""
    compiled = clopt.compile(HEAVY, device=device)

    def seconds(threshold: float) -> float:
        given = feeds(HEAVY, 0, threshold)
        times: list[float] = []
        for _ in range(5):
            start = time.perf_counter()
            compiled.run(given)
            times.append(time.perf_counter() - start)
        return min(times)

    assert seconds(2) < seconds(-2) / 3


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.by_default(cases=1)
@pytest.mark.in_turns
def test_random_branches(device: str, seed: int) -> None:
    proto = random_branches(seed)
    agree(clopt.compile(proto, device=device), proto, THRESHOLDS)
