"""Sine, cosine, tangent and hyperbolic tangent by arithmetic are accurate in every lane."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

import clopt

ULPS = {"Sin": 1.6, "Cos": 1.6, "Tan": 3.1, "Tanh": 1.4}
"""Measured with eight times as many numbers; OpenCL C allows 4, 4, 5 and 5."""


def arguments() -> np.ndarray:
    """Numbers of all exponents and signs, those next to multiples of pi/2, and the ends, mixed."""
    rng = np.random.default_rng(5)
    mantissas = rng.integers(0, 1 << 23, (512, 256), dtype=np.uint32)
    exponents = np.arange(512, dtype=np.uint32)[:, None] << 23
    everywhere = (exponents | mantissas).ravel().view(np.float32)
    zeros = (np.arange(1, 40000) * (np.pi / 2)).astype(np.float32)
    ends = np.float32([2**28, np.nextafter(np.float32(2**28), np.float32(0)), 10, 0.625])
    special = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 3.4028235e38, 1e10, 1e-4])
    x = np.concatenate([everywhere, zeros, -zeros, ends, -ends, special])
    return rng.permutation(np.pad(x, (0, -x.size % 16), mode="edge"))


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("width", [1, 8, 16])
def test_functions_are_accurate(device: str, width: int) -> None:
    x = arguments()
    graph = helper.make_graph(
        [helper.make_node(kind, ["x"], [kind]) for kind in ULPS],
        "functions",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info(kind, TensorProto.FLOAT, x.shape) for kind in ULPS],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    compiled = clopt.compile(model, device=device, vector_width=width)
    for (kind, bound), found in zip(ULPS.items(), compiled.run({"x": x}), strict=True):
        assert f"vector_{kind.lower()}{'8' if width > 1 else ''}(" in compiled.source
        with np.errstate(invalid="ignore"):
            exact = getattr(np, kind.lower())(x.astype(np.float64))
        expected = exact.astype(np.float32)
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        is_number = ~np.isnan(expected)
        errors = np.abs(found - exact)[is_number] / np.spacing(np.abs(expected[is_number]))
        assert errors.max() <= bound
        if kind != "Cos":
            np.testing.assert_array_equal(np.signbit(found[x == 0]), np.signbit(x[x == 0]))
        if kind == "Tanh":
            assert (found[np.abs(x) >= 9.02] == np.sign(x[np.abs(x) >= 9.02])).all()


def test_gelu_of_large_negative_numbers_is_zero(device: str) -> None:
    x = np.full(16, -1e20, np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gelu", ["x"], ["y"], approximate="tanh")],
        "gelu",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    (found,) = clopt.compile(model, device=device).run({"x": x})
    np.testing.assert_array_equal(found, np.zeros(16, np.float32))


def test_targets_without_doubles_keep_the_functions_of_the_device() -> None:
    graph = helper.make_graph(
        [helper.make_node("Sin", ["x"], ["y"])],
        "sin",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [16])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    for target in ("nvidia", "pocl fp64=false"):
        source = clopt.compile(model, target=target).source
        assert "vector_sin" not in source
        assert "cl_khr_fp64" not in source
    assert clopt.compile(model, target="pocl").source.count("cl_khr_fp64") == 1
