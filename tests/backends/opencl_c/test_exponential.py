"""The exponential function by arithmetic is accurate for every size of argument."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

import clopt

ULPS = 1.01
"""Measured for all floats; OpenCL C allows 3 (specification 7.4)."""
SHORT_ERROR = 1.2e-7
"""Of the function for GPUs, relative to the result; measured, too."""
SHORT_SMALLEST, SHORT_LARGEST = np.float32(-86.8), np.float32(88.7228)
"""Below the one that function gives 0, a little above the other infinity."""
SMALLEST, LARGEST = np.float32(-103.97208), np.float32(88.72284)
"""Beyond these e^x rounds to 0 or to infinity."""


def arguments() -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Numbers of all exponents and signs, the range of results densely, and the ends."""
    rng = np.random.default_rng(5)
    mantissas = rng.integers(0, 1 << 23, (512, 512), dtype=np.uint32)
    exponents = np.arange(512, dtype=np.uint32)[:, None] << 23
    everywhere = (exponents | mantissas).ravel().view(np.float32)
    inside = rng.uniform(-105, 90, 1 << 18).astype(np.float32)
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, SMALLEST, LARGEST], np.float32)
    near = [np.nextafter(special, np.float32(to)) for to in (-np.inf, np.inf)]
    x = np.concatenate([everywhere, inside, special, *near])
    return np.pad(x, (0, -x.size % 16), mode="edge")


def exponentials(x: np.ndarray, **options: object) -> tuple[np.ndarray, str]:
    """e^x as a device computes it, and the kernel's source."""
    graph = helper.make_graph(
        [helper.make_node("Exp", ["x"], ["y"])],
        "exp",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    compiled = clopt.compile(model, **options)
    (found,) = compiled.run({"x": x})
    return found, compiled.source


@pytest.mark.parametrize("width", [1, 8, 16])
def test_exp_is_accurate(device: str, width: int) -> None:
    x = arguments()
    found, source = exponentials(x, device=device, vector_width=width)
    assert f"vector_exp{width if width > 1 else ''}(" in source
    with np.errstate(over="ignore", invalid="ignore"):
        exact = np.exp(x.astype(np.float64))
        expected = exact.astype(np.float32)
    is_finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~is_finite], expected[~is_finite])
    errors = np.abs(found[is_finite] - exact[is_finite]) / np.spacing(expected[is_finite])
    assert errors.max() <= ULPS
    assert (found[x < SMALLEST] == 0).all()


def test_short_exp_is_accurate(device: str) -> None:
    x = arguments()
    found, source = exponentials(x, device=device, target="adreno-740 fp16=false read_imageh=false")
    assert "short_exp" in source
    with np.errstate(over="ignore", invalid="ignore"):
        exact = np.exp(x.astype(np.float64))
    is_normal = (x >= SHORT_SMALLEST) & (x <= SHORT_LARGEST)
    errors = np.abs(found[is_normal] / exact[is_normal] - 1)
    assert errors.max() <= SHORT_ERROR
    assert (found[x < SHORT_SMALLEST] == 0).all()
    assert np.isinf(found[x > 88.8]).all()
    assert np.isnan(found[np.isnan(x)]).all()
