"""Networks compiled once for an Adreno, and run on every device found."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import onnxruntime

import clopt
from clopt.backends.pyopencl_runtime import Executable

TARGET = "adreno-740 texture=prefer fp16=false"
"""Without arithmetic in half, which the device has and not all runtimes of the tests have."""

TOLERANCES = {"f32": 1e-4, "f16-storage": 1e-2, "f16": 1e-2}


def expected_outputs(model: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The outputs of onnxruntime, on one thread: other tests keep the other cores busy."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return [np.asarray(array) for array in session.run(None, inputs)]


def check(
    model: onnx.ModelProto,
    inputs: Mapping[str, np.ndarray],
    devices: Mapping[str, str],
    precision: str,
    target: str = TARGET,
) -> clopt.CompiledModel:
    """Compare with onnxruntime on every device, within `TOLERANCES` of the largest value."""
    expected = expected_outputs(model, inputs)
    compiled = clopt.compile(model, target=target, precision=precision)
    for name, device in devices.items():
        executable = Executable(compiled.module, compiled.weights, device, source=compiled.source)
        for got, want in zip(executable.run(inputs), expected, strict=True):
            assert got.dtype == want.dtype
            assert got.shape == want.shape
            error = np.abs(got - want).max()
            assert error <= TOLERANCES[precision] * np.abs(want).max(), name
    return compiled
