"""Small networks as the tuner gets them: lowered up to the choice of plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import SSAValue

from clopt.context import CloptContext
from clopt.dialects import cl, nn
from clopt.passes.pipelines import run_pipeline
from clopt.passes.tir.choose_plan import TIRChoosePlanPass
from clopt.passes.tir.rules.plans import default_plan
from clopt.tuning.programs import Programs
from clopt.tuning.tasks import tasks_of
from clopt.tuning.trial import Task, Trial
from support.nn.layout_graphs import Graph


def residual_network(
    target: cl.Target, channels: int = 8, precision: str = "f32"
) -> tuple[ModuleOp, CloptContext]:
    """Four convolutions, of which two are equal, a residual sum, and a product."""
    graph = Graph((1, channels, 6, 6))
    x = graph.x
    weight = graph.constant(channels, channels, 3, 3)
    for _ in range(4):
        x = graph.add(nn.ConvOp(x, weight, pads=[1] * 4))
    x = graph.relu(graph.binary(x, graph.x))
    rows = graph.add(nn.ReshapeOp(x, [1, channels * 36]))
    return lowered(
        graph, graph.add(nn.MatmulOp(rows, graph.constant(channels * 36, 10))), target, precision
    )


def lowered(
    graph: Graph, result: SSAValue, target: cl.Target, precision: str = "f32"
) -> tuple[ModuleOp, CloptContext]:
    """A network whose kernels wait for plans."""
    module, ctx = graph.module(result, target=target), CloptContext()
    for network in nn.networks_of(module):
        nn.name_parameters(network)
    run_pipeline(ctx, module, "opencl", precision=precision, until=TIRChoosePlanPass)
    return module, ctx


def embedding_tasks(target: cl.Target, depth: int = 512) -> list[Task]:
    """Rows of a table, normalised: one kernel with two sums."""
    graph = Graph((1, 16), type_=i32)
    rows = graph.add(nn.GatherOp(graph.constant(64, depth), graph.x, 0))
    scale = graph.add(nn.ConstantOp.from_array(np.ones(depth, np.float32)))
    module, ctx = lowered(graph, graph.add(nn.LayerNormOp(rows, scale)), target)
    return tasks_of(module, ctx.weights)


def residual_tasks(target: cl.Target, channels: int = 8, precision: str = "f32") -> list[Task]:
    """The tasks of `residual_network`."""
    module, ctx = residual_network(target, channels, precision)
    return tasks_of(module, ctx.weights)


def default_trial(task: Task) -> Trial:
    """The plan that a kernel gets without a tuner."""
    return Trial(task, default_plan(Programs(task).kernel, task.target).data)


def noise(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def separable_network(widths: Sequence[int] = (16, 384), size: int = 10) -> onnx.ModelProto:
    """For each width a 1x1, a depthwise and a 1x1 convolution; all but the first halve the image.

    On the target `pocl blocks=prefer` the model joins the last two of the first three kernels, and
    those of the others would cost half as much again.
    """
    rng = np.random.default_rng(0)
    nodes: list[onnx.NodeProto] = []
    weights: dict[str, np.ndarray] = {}
    x, channels = "x", widths[0]
    for i, width in enumerate(widths):
        weights[f"e{i}"] = rng.standard_normal((width, channels, 1, 1)) / channels**0.5
        weights[f"d{i}"] = rng.standard_normal((width, 1, 3, 3)) / 3
        weights[f"p{i}"] = rng.standard_normal((width, width, 1, 1)) / width**0.5
        stride = 2 if i else 1
        nodes += [
            helper.make_node("Conv", [x, f"e{i}"], [f"a{i}"], name=f"e{i}", strides=[stride] * 2),
            helper.make_node(
                "Conv", [f"a{i}", f"d{i}"], [f"b{i}"], name=f"d{i}", group=width, pads=[1] * 4
            ),
            helper.make_node("Relu", [f"b{i}"], [f"r{i}"], name=f"r{i}"),
            helper.make_node("Conv", [f"r{i}", f"p{i}"], [f"y{i}"], name=f"p{i}"),
        ]
        x, channels = f"y{i}", width
    return _model("separable", nodes, (1, widths[0], size, size), (x, None), weights)


def assorted_network() -> onnx.ModelProto:
    """Windows with borders, a concatenation and an attention: a site of each kind between kernels.

    On the target `pocl blocks=off` all kernels after the convolution are small enough to share
    launches.
    """
    rng = np.random.default_rng(0)
    shapes = {"w1": (8, 3, 3, 3), "w2": (4, 8, 1, 1), "w3": (8, 8, 1, 1)}
    shapes |= {name: (12, 8) for name in ("wq", "wk", "wv")}
    weights = {name: rng.standard_normal(shape) / 3 for name, shape in shapes.items()}
    window = {"kernel_shape": [3, 3], "pads": [1] * 4}
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["padded"], **window),
        helper.make_node("MaxPool", ["padded"], ["pooled"], strides=[2, 2], **window),
        helper.make_node("Conv", ["pooled", "w2"], ["narrow"]),
        helper.make_node("Conv", ["pooled", "w3"], ["wide"]),
        helper.make_node("Concat", ["wide", "narrow"], ["maps"], axis=1),
        helper.make_node("Reshape", ["maps", "shape"], ["columns"]),
        helper.make_node("Transpose", ["columns"], ["rows"], perm=[0, 2, 1]),
        *(helper.make_node("MatMul", ["rows", f"w{name}"], [name]) for name in "qkv"),
        helper.make_node("Transpose", ["k"], ["turned"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["q", "turned"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["shares"]),
        helper.make_node("MatMul", ["shares", "v"], ["y"]),
    ]
    numbers = {"shape": [1, 12, 16]}
    return _model("assorted", nodes, (1, 3, 8, 8), ("y", (1, 16, 8)), weights, numbers)


def grouped_network() -> onnx.ModelProto:
    """A wide window, a costly factor that is copied, a strided 1x1 convolution, stacked products.

    On the target `pocl blocks=off` neither the window nor the factor is merged by default.
    """
    rng = np.random.default_rng(0)
    weights = {"w1": rng.standard_normal((4, 3, 1, 1)) / 2, "w2": rng.standard_normal((36, 5)) / 6}
    numbers = {"zero": [0], "one": [1], "shape": [2, 4, 36]}
    nodes = [
        helper.make_node("Relu", ["x"], ["positive"]),
        helper.make_node("MaxPool", ["positive"], ["pooled"], kernel_shape=[5, 5], pads=[2] * 4),
        helper.make_node("Slice", ["x", "zero", "one", "one"], ["first"]),
        helper.make_node("Exp", ["first"], ["factor"]),
        helper.make_node("Mul", ["pooled", "factor"], ["scaled"]),
        helper.make_node("Conv", ["scaled", "w1"], ["maps"], strides=[2, 2]),
        helper.make_node("Reshape", ["maps", "shape"], ["rows"]),
        helper.make_node("MatMul", ["rows", "w2"], ["y"]),
    ]
    return _model("grouped", nodes, (2, 3, 12, 12), ("y", (2, 4, 5)), weights, numbers)


def _model(
    name: str,
    nodes: Sequence[onnx.NodeProto],
    shape: Sequence[int],
    output: tuple[str, Sequence[int] | None],
    weights: Mapping[str, np.ndarray],
    numbers: Mapping[str, Sequence[int]] = MappingProxyType({}),
) -> onnx.ModelProto:
    """A model that reads `x`. A node without a name gets that of its output."""
    for node in nodes:
        node.name = node.name or node.output[0]
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(output[0], TensorProto.FLOAT, output[1])],
        [
            *(numpy_helper.from_array(v.astype(np.float32), key) for key, v in weights.items()),
            *(numpy_helper.from_array(np.array(v), key) for key, v in numbers.items()),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
