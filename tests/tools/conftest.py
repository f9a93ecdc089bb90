"""Models and images for the tests of the tools."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """relu(x + w) on 2x3 floats, saved as add.onnx."""
    weight = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "w")
    nodes = [
        helper.make_node("Add", ["x", "w"], ["sum"], name="add"),
        helper.make_node("Relu", ["sum"], ["y"], name="relu"),
    ]
    return save(tmp_path / "add.onnx", nodes, [weight])


def save(path: Path, nodes: list[onnx.NodeProto], weights: list[TensorProto]) -> Path:
    """A model from input x to output y, both 2x3 floats; not checked."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
    graph = helper.make_graph(nodes, "graph", [x], [y], weights)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(proto, path)
    return path
