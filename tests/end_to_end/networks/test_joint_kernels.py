"""Networks whose small kernels share launches compute the same, in as much memory."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

import clopt
from clopt.backends.programs import program_of
from clopt.backends.pyopencl_runtime import Executable
from clopt.dialects import cl
from support.onnx import builders


def squeeze_and_excite() -> onnx.ModelProto:
    """A gate for each channel, from the mean of the map; 40 channels end within a block."""
    rng = np.random.default_rng(3)
    weights = {
        "w": rng.standard_normal((40, 40, 3, 3)) / 20,
        "down": rng.standard_normal((12, 40, 1, 1)),
        "up": rng.standard_normal((40, 12, 1, 1)),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["map"], pads=[1, 1, 1, 1]),
        helper.make_node("GlobalAveragePool", ["map"], ["mean"]),
        helper.make_node("Conv", ["mean", "down"], ["few"]),
        helper.make_node("Relu", ["few"], ["relu"]),
        helper.make_node("Conv", ["relu", "up"], ["many"]),
        helper.make_node("HardSigmoid", ["many"], ["gate"]),
        helper.make_node("Mul", ["map", "gate"], ["scaled"]),
        helper.make_node("Conv", ["scaled", "w"], ["y"], pads=[1, 1, 1, 1]),
    ]
    graph = helper.make_graph(
        nodes,
        "squeeze_and_excite",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 40, 14, 14))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(a.astype(np.float32), name) for name, a in weights.items()],
    )
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=9)


NETWORKS = {
    "squeeze_and_excite": squeeze_and_excite,
    **{name: builders.NETWORKS[name] for name in ("squeezenet1_1", "resnet50", "yolo")},
}


def _launches(module: ModuleOp) -> int:
    return sum(isinstance(op, cl.EnqueueKernelOp) for op in module.walk())


def _arena(module: ModuleOp) -> int:
    return sum(op.size for op in program_of(module).walk() if isinstance(op, cl.ArenaOp))


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", list(NETWORKS))
def test_joint_kernels(name: str, device: str) -> None:
    """A launch that costs nothing is never saved, one that costs a millisecond often."""
    model = NETWORKS[name]()
    feeds = builders.inputs_for(model)
    apart, joint = (clopt.compile(model, f"pocl launch_microseconds={cost}") for cost in (0, 1000))
    assert _launches(joint.module) < _launches(apart.module)
    assert any("_to_" in line or "_beside_" in line for line in joint.source.splitlines())
    assert _arena(joint.module) <= 1.02 * _arena(apart.module)
    expected, found = (
        Executable(m.module, m.weights, device, source=m.source).run(feeds) for m in (apart, joint)
    )
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * np.abs(b).max())
