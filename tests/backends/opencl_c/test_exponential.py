"""The exponential function by arithmetic is accurate for every size of argument."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

import clopt

ULPS = 1.01
"""Measured for all floats; OpenCL C allows 3 (specification 7.4)."""
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


@pytest.mark.parametrize("width", [1, 8, 16])
def test_exp_is_accurate(device: str, width: int) -> None:
    x = arguments()
    graph = helper.make_graph(
        [helper.make_node("Exp", ["x"], ["y"])],
        "exp",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    compiled = clopt.compile(model, device=device, vector_width=width)
    assert f"vector_exp{width if width > 1 else ''}(" in compiled.source
    (found,) = compiled.run({"x": x})
    with np.errstate(over="ignore", invalid="ignore"):
        exact = np.exp(x.astype(np.float64))
        expected = exact.astype(np.float32)
    is_finite = np.isfinite(expected)
    np.testing.assert_array_equal(found[~is_finite], expected[~is_finite])
    errors = np.abs(found[is_finite] - exact[is_finite]) / np.spacing(expected[is_finite])
    assert errors.max() <= ULPS
    assert (found[x < SMALLEST] == 0).all()
