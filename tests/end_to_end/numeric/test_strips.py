"""Products with a value that the same kernel computes strip by strip, against onnxruntime."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import clopt


@dataclass(frozen=True)
class Case:
    """A depthwise convolution, a function, a 1x1 convolution and perhaps a sum.

    Another convolution before these brings the input into blocks.
    """

    shape: tuple[int, int, int, int]
    outputs: int = 32
    kernel: int = 3
    stride: int = 1
    dilation: int = 1
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)
    function: str = "relu6"
    residual: bool = False
    skip: bool = False
    """Whether the sum adds what the depthwise convolution reads."""


CASES = {
    "stride 1": Case((1, 32, 14, 14), residual=True),
    "stride 2": Case((1, 32, 15, 18), stride=2),
    "5x5": Case((1, 48, 14, 9), kernel=5, pads=(2, 2, 2, 2), function="hardswish"),
    "5x5, stride 2": Case((1, 16, 28, 28), kernel=5, stride=2, pads=(1, 1, 2, 2)),
    "dilated": Case((1, 16, 20, 20), dilation=2, pads=(2, 2, 2, 2)),
    "uneven pads": Case((1, 32, 11, 13), pads=(0, 2, 1, 0)),
    "tails of channels": Case((1, 20, 14, 14), outputs=40, function="hardswish", residual=True),
    "a tail that is not zero": Case((1, 20, 10, 10), function="sigmoid"),
    "prime rows": Case((1, 64, 7, 7), outputs=80, residual=True),
    "a batch": Case((3, 32, 9, 10), residual=True),
    "a sum with the operand": Case((1, 32, 12, 12), skip=True),
    "no function": Case((2, 16, 12, 30), function="none"),
}


def _model(case: Case) -> onnx.ModelProto:
    n, c, h, w = case.shape
    rng = np.random.default_rng(c * h + w)
    weights = {
        "ew": rng.standard_normal((c, c, 1, 1)) / c**0.5,
        "dw": rng.standard_normal((c, 1, case.kernel, case.kernel)),
        "db": rng.standard_normal(c),
        "pw": rng.standard_normal((case.outputs, c, 1, 1)),
        "pb": rng.standard_normal(case.outputs),
        "zero": np.array(0.0),
        "six": np.array(6.0),
    }
    window = {
        "group": c,
        "strides": [case.stride] * 2,
        "dilations": [case.dilation] * 2,
        "pads": case.pads,
    }
    functions = {
        "relu6": ("Clip", ["d", "zero", "six"]),
        "hardswish": ("HardSwish", ["d"]),
        "sigmoid": ("Sigmoid", ["d"]),
        "none": ("Identity", ["d"]),
    }
    kind, inputs = functions[case.function]
    nodes = [
        helper.make_node("Conv", ["x", "ew"], ["e"], name="before"),
        helper.make_node("Conv", ["e", "dw", "db"], ["d"], name="depthwise", **window),
        helper.make_node(kind, inputs, ["f"], name="function"),
        helper.make_node("Conv", ["f", "pw", "pb"], ["p"], name="pointwise"),
    ]
    result = "p"
    if case.residual:
        nodes.append(helper.make_node("Add", ["p", "r"], ["y"], name="sum"))
        result = "y"
    if case.skip:
        nodes.append(helper.make_node("Add", ["p", "e"], ["s"], name="sum"))
        nodes.append(helper.make_node("Conv", ["s", "pw", "pb"], ["y"], name="after"))
        result = "y"
    reach = (case.kernel - 1) * case.dilation
    sizes = [
        (size + case.pads[i] + case.pads[i + 2] - reach - 1) // case.stride + 1
        for i, size in enumerate((h, w))
    ]
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, case.shape)]
    if case.residual:
        shape = (n, case.outputs, *sizes)
        values.append(helper.make_tensor_value_info("r", TensorProto.FLOAT, shape))
    graph = helper.make_graph(
        nodes,
        "strips",
        values,
        [helper.make_tensor_value_info(result, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()],
    )
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=9)


def _check(case: Case, device: str, **facts: int) -> str:
    """Compare with onnxruntime; return the source."""
    model = _model(case)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    rng = np.random.default_rng(7)
    inputs = {
        value.name: rng.standard_normal(value.shape).astype(np.float32)
        for value in session.get_inputs()
    }
    (expected,) = session.run(None, inputs)
    # Launches that take so long are joined wherever they can be.
    compiled = clopt.compile(
        model, device=device, blocks="prefer", launch_microseconds=1e6, **facts
    )
    (found,) = compiled.run(list(inputs.values()))
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())
    return compiled.source


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", CASES)
def test_one_kernel(name: str, device: str) -> None:
    assert _check(CASES[name], device).count("__kernel") == 2 + CASES[name].skip


@pytest.mark.parametrize("size", [4096, 65536])
def test_small_caches(size: int, device: str) -> None:
    """A strip of one row, and of some."""
    _check(CASES["stride 1"], device, l2_cache_bytes=size)
