"""3x3 convolutions by Winograd's transforms, on devices, against double precision."""

from __future__ import annotations

from functools import cache

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import clopt
from clopt.backends.pyopencl_runtime import Executable, find_device, target_for
from support.onnx.on_devices import TARGET

# n, c, h, w, o, pads: tiles that reach over the edge in one or both directions, channels that no
# vector divides, one row, uneven pads, a batch, and a large one.
CASES = [
    (1, 771, 36, 64, 128, (1, 1, 1, 1)),
    (1, 9, 35, 35, 6, (1, 1, 1, 1)),
    (1, 5, 7, 7, 7, (1, 1, 1, 1)),
    (1, 4, 13, 13, 3, (0, 0, 0, 0)),
    (1, 6, 1, 40, 5, (1, 1, 1, 1)),
    (1, 3, 12, 9, 10, (0, 2, 1, 0)),
    (4, 3, 10, 18, 5, (1, 1, 1, 1)),
]


def _model(x: np.ndarray, w: np.ndarray, b: np.ndarray, pads: tuple[int, ...]) -> onnx.ModelProto:
    """conv and relu."""
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=pads),
        helper.make_node("Relu", ["c"], ["y"], name="relu"),
    ]
    graph = helper.make_graph(
        nodes,
        "winograd",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")],
    )
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=9)


def _exact(x: np.ndarray, w: np.ndarray, b: np.ndarray, pads: tuple[int, ...]) -> np.ndarray:
    widths = ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3]))
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(x.astype(np.float64), widths), (3, 3), (2, 3)
    )
    y = np.tensordot(windows, w.astype(np.float64), axes=([1, 4, 5], [1, 2, 3]))
    return np.maximum(np.moveaxis(y, 3, 1) + b.astype(np.float64)[:, None, None], 0)


# The same with channels that fill blocks of sixteen: rests of strips, uneven pads, a batch.
CASES_IN_BLOCKS = [
    (1, 256, 14, 14, 256, (1, 1, 1, 1)),
    (1, 64, 35, 35, 16, (1, 1, 1, 1)),
    (1, 32, 13, 6, 48, (0, 2, 1, 0)),
    (3, 16, 10, 18, 32, (1, 1, 1, 1)),
]

# Channels that fill texels.
CASES_IN_TEXELS = [
    (1, 128, 14, 14, 16, (1, 1, 1, 1)),
    (1, 8, 13, 9, 12, (0, 2, 1, 0)),
    (2, 16, 10, 18, 8, (1, 1, 1, 1)),
]

ERRORS = {"f32": {"off": 1e-6, "prefer": 3e-6}, "f16-storage": {"off": 5e-4, "prefer": 1e-3}}
"""Largest errors of the direct form and by transforms, F(4, 3) of floats and F(2, 3) of halves."""
CUTS_HALVES = ("nvidia",)
"""Devices that cut floats off when they write them to images of halves: twice the error of
rounding."""


@cache
def _problem(case: tuple) -> tuple[np.ndarray, onnx.ModelProto, np.ndarray]:
    """Activations as behind a ReLU and weights by He et al., as a ResNet has them."""
    n, c, h, w, o, pads = case
    rng = np.random.default_rng(h)
    x = np.maximum(rng.standard_normal((n, c, h, w)), 0).astype(np.float32)
    weights = (rng.standard_normal((o, c, 3, 3)) * (2 / (9 * c)) ** 0.5).astype(np.float32)
    bias = rng.standard_normal(o).astype(np.float32)
    return x, _model(x, weights, bias, pads), _exact(x, weights, bias, pads)


def _check(
    case: tuple, precision: str, tolerance: float, device: str, kernel: str, **facts: str
) -> None:
    x, model, expected = _problem(case)
    compiled = clopt.compile(model, device=device, precision=precision, winograd="prefer", **facts)
    assert kernel in compiled.source
    (y,) = compiled.run([x])
    assert np.abs(y - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.by_default(cases=1)
@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize(("precision", "tolerance"), [("f32", 1e-4), ("f16-storage", 1e-2)])
@pytest.mark.parametrize("case", CASES)
def test_hard_cases(case: tuple, precision: str, tolerance: float, device: str) -> None:
    _check(case, precision, tolerance, device, "winograd_output", blocks="off")


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize(("precision", "tolerance"), [("f32", 1e-4), ("f16-storage", 1e-2)])
@pytest.mark.parametrize("case", CASES_IN_BLOCKS)
def test_tiles_in_blocks(case: tuple, precision: str, tolerance: float, device: str) -> None:
    if find_device(device).kind != "cpu":
        pytest.skip("only CPUs have channels in blocks of a vector")
    _check(case, precision, tolerance, device, "winograd_conv", blocks="prefer")


@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize(("channels", "bound"), [(16, 2e-6), (256, 5e-6), (512, 6.4e-6)])
def test_error_of_floats_over_channels(channels: int, bound: float, device: str) -> None:
    """The errors that docs/layouts.md states; the data have outliers."""
    if find_device(device).kind != "cpu":
        pytest.skip("only CPUs have channels in blocks of a vector")
    rng = np.random.default_rng(channels)
    x = rng.standard_normal((1, channels, 16, 16)).astype(np.float32)
    w = rng.standard_normal((16, channels, 3, 3)).astype(np.float32)
    x.flat[rng.integers(0, x.size, x.size // 1000)] *= 1e4
    b = np.zeros(16, np.float32)
    compiled = clopt.compile(_model(x, w, b, (1, 1, 1, 1)), device=device, winograd="prefer")
    assert "winograd_conv" in compiled.source
    expected = _exact(x, w, b, (1, 1, 1, 1))
    (y,) = compiled.run([x])
    assert np.abs(y - expected).max() <= bound * np.abs(expected).max()


@pytest.mark.by_default(cases=1)
@pytest.mark.in_turns
@pytest.mark.parametrize(("precision", "mode"), [(p, m) for p in ERRORS for m in ERRORS[p]])
@pytest.mark.parametrize("case", CASES_IN_TEXELS)
def test_tiles_in_texels(case: tuple, precision: str, mode: str, device: str) -> None:
    x, model, expected = _problem(case)
    compiled = clopt.compile(model, target=f"{TARGET} winograd={mode}", precision=precision)
    assert ("winograd_product" in compiled.source) == (mode == "prefer")
    executable = Executable(compiled.module, compiled.weights, device, source=compiled.source)
    error = np.abs(executable.run([x])[0] - expected).max() / np.abs(expected).max()
    cuts = target_for(find_device(device)).name in CUTS_HALVES and precision == "f16-storage"
    assert error <= (2 if cuts else 1) * ERRORS[precision][mode]
