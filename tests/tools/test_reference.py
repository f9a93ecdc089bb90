"""The comparison of `clopt-run --compare`: differences and tolerances."""

from __future__ import annotations

import numpy as np
import pytest

import clopt
from clopt.context import CloptContext
from clopt.messages.source import Source, SourceModule
from clopt.tools.reference import difference, tolerance

TOLERANCES = {
    # element type of the model, precision of the compiler, type of an output
    ("f32", "f32", np.float32): 1e-4,
    ("f32", "f16", np.float32): 1e-2,
    ("f32", "f16-storage", np.float32): 1e-2,
    ("f16", "f32", np.float16): 1e-2,
    ("f64", "f32", np.float64): 1e-10,
    ("f32", "f32", np.int64): 0,
    ("f32", "f32", np.bool_): 0,
}


@pytest.mark.parametrize(("element", "precision", "output"), TOLERANCES)
def test_tolerance_is_that_of_the_types(element: str, precision: str, output: type[np.generic]):
    text = f"""
        func.func @main(%x: tensor<16x16x{element}>) -> tensor<16x16x{element}> {{
          %y = "nn.matmul"(%x, %x) : (tensor<16x16x{element}>, tensor<16x16x{element}>)
            -> tensor<16x16x{element}>
          %z = "nn.matmul"(%y, %x) : (tensor<16x16x{element}>, tensor<16x16x{element}>)
            -> tensor<16x16x{element}>
          func.return %z : tensor<16x16x{element}>
        }}"""
    module = SourceModule.parse(CloptContext(), Source("text", text)).module
    compiled = clopt.compile(module, target="adreno-740", precision=precision, fp64=True)
    allowed = TOLERANCES[element, precision, output]
    assert tolerance(np.dtype(output), compiled.module) == allowed


def test_large_integers_are_compared_exactly():
    a = np.array([2**62, 2**62 + 1], np.int64)
    assert difference(a, a.copy()).relative == 0
    assert difference(a, a + np.array([0, 1])).absolute == 1
    assert difference(a.astype(np.uint64), (a + 1).astype(np.uint64)).absolute == 1
    assert difference(a, a.astype(np.uint64)).relative == np.inf


@pytest.mark.parametrize(
    ("ours", "reference", "expected"),
    [
        ([1.0, 2.0], [1.0, 4.0], 0.5),
        ([np.nan, 1.0], [np.nan, 1.0], 0.0),
        ([np.nan, 1.0], [0.0, 1.0], np.inf),
        ([np.inf, 1.0], [np.inf, 1.0], 0.0),
        ([np.inf, 1.0], [-np.inf, 1.0], np.inf),
        ([1.0], [1.0, 2.0], np.inf),
        ([], [], 0.0),
    ],
)
def test_relative_difference(ours: list[float], reference: list[float], expected: float):
    assert difference(np.array(ours), np.array(reference)).relative == expected
