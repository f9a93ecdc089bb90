"""The least memory of an ONNX graph, counted by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from memory_bounds import Graph
from onnx import TensorProto, helper, numpy_helper


def test_lower_bound(tmp_path: Path) -> None:
    """A chain of ten floats each, with a residual; one value is 40 bytes, of 20 floats 80."""
    w = numpy_helper.from_array(np.eye(10, dtype=np.float32), "w")
    wide = numpy_helper.from_array(np.ones((10, 20), np.float32), "wide")
    nodes = [
        helper.make_node("Transpose", ["w"], ["t"]),  # computed from weights: counts for nothing
        helper.make_node("MatMul", ["x", "t"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),  # in the kernel of a
        helper.make_node("MatMul", ["b", "w"], ["c"]),  # b, c
        helper.make_node("Reshape", ["c", "shape"], ["d"]),  # a view
        helper.make_node("Reshape", ["d", "back"], ["e"]),
        helper.make_node("Add", ["e", "b"], ["f"]),  # in the kernel of c: b, f
        helper.make_node("MatMul", ["f", "wide"], ["g"]),  # f, g: 120 bytes
        helper.make_node("Softmax", ["g"], ["h"], axis=1),  # g, h: 160 bytes
        helper.make_node("MatMul", ["h", "tall"], ["y"]),
    ]
    weights = [
        *(w, wide),
        numpy_helper.from_array(np.ones((20, 10), np.float32), "tall"),
        numpy_helper.from_array(np.array([10]), "shape"),
        numpy_helper.from_array(np.array([1, 10]), "back"),
    ]
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 10]) for n in "xy")
    model = helper.make_model(helper.make_graph(nodes, "g", [x], [y], weights))
    onnx.save(model, tmp_path / "g.onnx")
    graph = Graph(tmp_path / "g.onnx")
    assert [writes for _, writes in graph.kernels] == [["b"], ["f"], ["g"], ["h"], ["y"]]
    assert graph.lower_bound() == 160
