"""When the commands of an inference run on the device, one by one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx.helper import make_graph, make_model, make_node, make_opsetid, make_tensor_value_info

import clopt
from clopt import CloptError
from clopt.backends.pyopencl_runtime import CExecutable, Executable
from clopt.dialects.cl import EnqueueCopyOp, EnqueueKernelOp, EnqueueOffloadOp, enqueued
from support.clml.small_networks import BETWEEN, REFERENCE, network

X = np.zeros((1, 3, 8, 8), np.float32)
RUNS = 3


def copies() -> onnx.ModelProto:
    """A sum; the input and a part without elements are further outputs."""
    ports = {"x": [2, 3], "sum": [2, 3], "same": [2, 3], "none": [0, 3], "zero": [0, 3]}
    x, *outputs = (make_tensor_value_info(k, TensorProto.FLOAT, v) for k, v in ports.items())
    bounds = onnx.numpy_helper.from_array(np.array([0]), "bounds")
    nodes = [
        make_node("Add", ["x", "x"], ["sum"]),
        make_node("Identity", ["x"], ["same"]),
        make_node("Slice", ["x", "bounds", "bounds", "bounds"], ["none"]),
        make_node("Exp", ["none"], ["zero"]),
    ]
    graph = make_graph(nodes, "copies", [x], outputs, [bounds])
    return make_model(graph, opset_imports=[make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("kind", [Executable, CExecutable])
def test_each_command_that_runs_has_a_timing(
    kind: type[Executable | CExecutable], device: str
) -> None:
    model = clopt.compile(copies(), target="pocl", device=device)
    executable = kind(model.module, model.weights, device)
    commands = enqueued(executable.program)
    assert [type(op) for op in commands] == [EnqueueKernelOp, EnqueueCopyOp]
    runs = executable.profile({"x": np.ones((2, 3), np.float32)}, RUNS)
    assert [len(timings) for timings in runs] == [2] * RUNS
    in_order = [timing for timings in runs for timing in timings]
    for timing, following in pairwise(in_order):
        assert 0 <= timing.nanoseconds <= following.start - timing.start


def test_operations_of_clml_are_timed_between_kernels(device: str) -> None:
    model = clopt.compile(network(BETWEEN), device=device, clml="prefer", accelerators=REFERENCE)
    runs = model.executable.profile({"x": X}, RUNS)
    commands = enqueued(model.executable.program)
    assert {type(op) for op in commands} == {EnqueueKernelOp, EnqueueOffloadOp}
    for timings in runs:
        assert len(timings) == len(commands)
        assert all(timing.nanoseconds > 0 for timing in timings)


def test_a_profile_leaves_later_runs_alone(device: str) -> None:
    model = clopt.compile(network(BETWEEN), device=device)
    x = np.random.default_rng(0).standard_normal(X.shape).astype(np.float32)
    (before,) = model.run({"x": x})
    model.executable.profile({"x": X}, 1)
    np.testing.assert_array_equal(model.run({"x": x})[0], before)


def test_inputs_are_checked(device: str) -> None:
    model = clopt.compile(network(BETWEEN), device=device)
    with pytest.raises(CloptError, match="x"):
        model.executable.profile({"x": X[:, :2]}, 1)
