"""A softmax of texels keeps NaN and infinities, however the work-items share its rows."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import clopt
from clopt.backends.pyopencl_runtime import Executable
from support.onnx import on_devices


def _softmax(shape: tuple[int, ...], kind: str) -> onnx.ModelProto:
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name in "xy")
    # A function before it, so that it reads texels.
    nodes = [helper.make_node("Neg", ["x"], ["z"]), helper.make_node(kind, ["z"], ["y"], axis=-1)]
    graph = helper.make_graph(nodes, "softmax", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


CASES = [("Softmax", 3e-7, 6), ("Softmax", 3e-7, 197), ("LogSoftmax", 3e-5, 37)]


@pytest.mark.parametrize(("kind", "error", "columns"), CASES)
def test_special_values(devices: dict[str, str], kind: str, error: float, columns: int) -> None:
    shape = (2, 9, columns)
    x = 30 * np.random.default_rng(2).standard_normal(shape).astype(np.float32)
    for row, special in enumerate((np.nan, np.inf, -np.inf)):
        x[0, row, 0] = x[0, 3 + row, -1] = x[1, row, columns // 2] = special
        x[1, 3 + row, :] = special
    wide = -x.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = np.exp(wide - wide.max(axis=-1, keepdims=True))
        expected /= expected.sum(axis=-1, keepdims=True)
        if kind == "LogSoftmax":
            shifted = wide - wide.max(axis=-1, keepdims=True)
            expected = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    compiled = clopt.compile(_softmax(shape, kind), target=on_devices.TARGET)
    assert "__read_only image" in compiled.source
    assert "fmax" in compiled.source
    for name, device in devices.items():
        executable = Executable(compiled.module, compiled.weights, device, source=compiled.source)
        (got,) = executable.run({"x": x})
        np.testing.assert_allclose(got, expected, rtol=0, atol=error, err_msg=name)
