"""The error function by arithmetic is as accurate as OpenCL asks for, on every runtime."""

from __future__ import annotations

import math

import numpy as np
import pytest
from onnx import TensorProto, helper

import clopt

ULPS = 8
"""The fits are within 6; OpenCL C allows 16 (specification 7.4)."""


@pytest.mark.parametrize("target", [None, "adreno-740 fp16=false read_imageh=false"])
def test_erf_is_accurate(device: str, target: str | None) -> None:
    special = np.array(
        [np.nan, np.inf, -np.inf, 0.0, 1e-30, -1e-30, 1e30, 3.92, 3.919, 3.74, 3.739], np.float32
    )
    x = np.concatenate([special, np.linspace(-4.5, 4.5, 20_000, dtype=np.float32)])
    graph = helper.make_graph(
        [helper.make_node("Erf", ["x"], ["y"])],
        "erf",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    compiled = clopt.compile(model, target=target, device=device)
    assert "erf(" not in compiled.source
    (found,) = compiled.run({"x": x})
    exact = np.array([math.erf(float(value)) for value in x])
    expected = exact.astype(np.float32)
    np.testing.assert_array_equal(found[:7], expected[:7])
    assert np.abs(found).max(where=~np.isnan(found), initial=0) == 1
    errors = np.abs(found[3:] - exact[3:]) / np.spacing(np.abs(expected[3:]))
    assert errors.max() <= ULPS
