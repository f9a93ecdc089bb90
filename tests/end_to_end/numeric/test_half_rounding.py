"""A value that was cast to half has the precision of half, whatever follows it."""

import numpy as np
from onnx import TensorProto, helper

import clopt


def test_cast_there_and_back(device):
    nodes = [
        helper.make_node("Cast", ["x"], ["h"], to=TensorProto.FLOAT16),
        helper.make_node("Cast", ["h"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["x", "f"], ["lost"]),
    ]
    graph = helper.make_graph(
        nodes,
        "rounding",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [33])],
        [helper.make_tensor_value_info("lost", TensorProto.FLOAT, [33])],
    )
    opset = helper.make_opsetid("", 17)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=9)
    x = np.linspace(0.1, 3.0, 33, dtype=np.float32)
    (lost,) = clopt.compile(model, device=device).run([x])
    expected = x - x.astype(np.float16).astype(np.float32)
    assert np.abs(expected).max() > 1e-4
    np.testing.assert_array_equal(lost, expected)
