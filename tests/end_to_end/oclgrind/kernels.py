"""Runs small models on Oclgrind's simulated device and compares them with onnxruntime.

test_oclgrind.py starts it in a process of its own: `kernels.py TARGET`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from xdsl.passes import ModulePass

from clopt.backends.pyopencl_runtime import Executable
from clopt.context import CloptContext
from clopt.dialects.cl import set_target
from clopt.frontends.onnx import import_onnx
from clopt.passes.cl.plan_memory import CLPlanMemoryPass
from clopt.passes.pipelines import run_pipeline
from clopt.passes.tir.mark_in_place import TIRMarkInPlacePass
from clopt.targets import load_target
from clopt.weights import Weights

# Node type, shapes of the inputs, attributes. Sizes that no tile or vector divides, so that every
# guard is needed.
CASES: list[tuple[str, Sequence[Sequence[int]], dict[str, object]]] = [
    ("Relu", [[3, 7]], {}),
    ("Add", [[2, 3, 5], [3, 1]], {}),
    ("MatMul", [[5, 9], [9, 7]], {}),
    ("MatMul", [[2, 3, 18], [2, 18, 17]], {}),
    ("Gemm", [[3, 10], [19, 10], [19]], {"transB": 1}),
    ("Conv", [[1, 3, 7, 6], [5, 3, 3, 3], [5]], {"pads": [1, 1, 1, 1]}),
    ("Conv", [[1, 4, 6, 6], [6, 2, 2, 3]], {"group": 2, "strides": [2, 1], "dilations": [1, 2]}),
    ("Conv", [[1, 3, 9, 9], [3, 1, 3, 3]], {"group": 3, "pads": [0, 1, 2, 1]}),
    ("Conv", [[2, 18, 3, 3], [17, 18, 1, 1]], {}),
    ("ConvTranspose", [[1, 2, 4, 4], [2, 3, 3, 3]], {"strides": [2, 2]}),
    ("MaxPool", [[1, 3, 7, 7]], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    ("AveragePool", [[1, 2, 5, 5]], {"kernel_shape": [2, 2], "pads": [1, 1, 1, 1]}),
    ("GlobalAveragePool", [[1, 3, 5, 3]], {}),
    ("GlobalAveragePool", [[1, 2, 7, 11]], {}),
    ("Softmax", [[3, 11]], {"axis": 1}),
    ("Softmax", [[3, 70]], {"axis": 1}),
    ("Softmax", [[1, 33, 5]], {"axis": 1}),
    ("ReduceMean", [[4, 3, 5]], {"axes": [1]}),
    ("LayerNormalization", [[3, 10], [10], [10]], {}),
    ("InstanceNormalization", [[1, 3, 9, 15], [3], [3]], {}),
    ("Transpose", [[2, 3, 5]], {"perm": [2, 0, 1]}),
    ("Concat", [[2, 3], [2, 5]], {"axis": 1}),
    ("DepthToSpace", [[1, 8, 2, 3]], {"blocksize": 2}),
]


def build(operator: str, shapes: Sequence[Sequence[int]], attributes: dict[str, object]) -> bytes:
    """A model with one node and inputs x0, x1, ..."""
    names = [f"x{i}" for i in range(len(shapes))]
    node = helper.make_node(operator, names, ["y"], name=operator, **attributes)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip(names, shapes, strict=True)
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "graph", inputs, [output])
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8)
    return onnx.shape_inference.infer_shapes(model).SerializeToString()


def executable(model: bytes, target: str, *last: ModulePass) -> Executable:
    """The model without a plan of its memory, unless `last` plans it: a buffer for each tensor.

    In an arena, an access outside of one tensor hits another one, where Oclgrind sees no mistake.
    """
    ctx = CloptContext(weights=Weights())
    module = import_onnx(model, ctx.weights)
    # Oclgrind takes no option for correctly rounded division, so it watches our own.
    set_target(module, load_target(target).with_facts({"correctly_rounded_division": False}))
    for stage in ("simplify", "fuse", "lower", "schedule"):
        run_pipeline(ctx, module, stage)
    for pass_ in last:
        pass_.apply(ctx, module)
    return Executable(module, ctx.weights, "oclgrind")


def check_in_place(target: str) -> None:
    """A kernel that overwrites its input is no race."""
    nodes = [
        helper.make_node("Softmax", [x], [y], name=y, axis=axis)
        for x, y, axis in (("x", "a", 1), ("a", "b", 0), ("b", "y", 1))
    ]
    ports = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3, 11])] for name in ("x", "y")
    ]
    graph = helper.make_graph(nodes, "graph", *ports)
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()
    program = executable(model, target, TIRMarkInPlacePass(), CLPlanMemoryPass())
    bytes_of_a = 3 * 11 * 4
    assert (program.arena_bytes == (bytes_of_a,)) == (
        load_target(target).device.device_type == "gpu"
    )
    x = np.random.default_rng(0).standard_normal((3, 11)).astype(np.float32)
    (y,) = program.run([x])
    for axis in (1, 0, 1):
        x = np.exp(x) / np.exp(x).sum(axis, keepdims=True)
    np.testing.assert_allclose(y, x, rtol=1e-5)


def main(target: str) -> None:
    rng = np.random.default_rng(0)
    for operator, shapes, attributes in CASES:
        model = build(operator, shapes, attributes)
        inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
        (ours,) = executable(model, target).run(inputs)
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        (theirs,) = session.run(None, {f"x{i}": array for i, array in enumerate(inputs)})
        message = f"{operator} {shapes} {attributes} for {target}"
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5, err_msg=message)
    check_in_place(target)


if __name__ == "__main__":
    main(sys.argv[1])
