"""Computes CLML graphs by onnxruntime: each command as the ONNX nodes that mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from clopt.dialects import clml, nn
from clopt.dialects.nn.evaluation import evaluate
from clopt.dialects.properties import ints, is_true
from clopt.weights import Weights
from support.clml.single_ops import by_onnxruntime

Array = np.ndarray[Any, np.dtype[Any]]


class _Model:
    """An ONNX model that grows node by node; names are those of values."""

    def __init__(self, half: bool) -> None:
        self.dtype = np.float16 if half else np.float32
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[TensorProto] = []
        self.names: dict[SSAValue, str] = {}
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def constant(self, array: Array) -> str:
        name = self.name()
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = self.name()
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def reshape(self, x: str, sizes: Sequence[int]) -> str:
        return self.op("Reshape", x, self.constant(np.array(sizes, np.int64)))


def _activation(model: _Model, x: str, kind: str) -> str:
    if kind == "relu6":
        bounds = (model.constant(np.array(v, model.dtype)) for v in (0, 6))
        return model.op("Clip", x, *bounds)
    return model.op({"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh"}[kind], x)


def _norm(model: _Model, x: str, vectors: Sequence[str], epsilon: float) -> str:
    mean, variance, scale, bias = (model.reshape(v, [-1]) for v in vectors)
    return model.op("BatchNormalization", x, scale, bias, mean, variance, epsilon=epsilon)


def _convolution(op: clml.Convolution, model: _Model, names: Sequence[str]) -> str:
    x, w, *rest = names
    window = {
        "strides": ints(op.strides),
        "dilations": ints(op.dilations),
        "pads": ints(op.pads),
    }
    has_bias = op.b is not None
    b = [model.reshape(rest[0], [-1])] if has_bias else []
    _, i, kh, kw = clml.ml_tensor(op.w).get_shape()
    match op.mode.data:
        case clml.ConvMode.DEPTHWISE:
            y = model.op("Conv", x, model.reshape(w, [i, 1, kh, kw]), *b, group=i, **window)
        case clml.ConvMode.TRANSPOSE:
            turned = model.op("Transpose", w, perm=[1, 0, 2, 3])
            y = model.op("ConvTranspose", x, turned, *b, **window)
        case _:
            y = model.op("Conv", x, w, *b, **window)
    if isinstance(op, clml.ConvBatchNormOp | clml.ConvBatchNormActivationOp):
        y = _norm(model, y, rest[has_bias:], op.epsilon.value.data)
    if isinstance(op, clml.ConvActivationOp | clml.ConvBatchNormActivationOp):
        y = _activation(model, y, op.activation.data)
    return y


def _clip(op: clml.ClipOp, model: _Model, names: Sequence[str]) -> str:
    bounds = (np.array(attr.value.data, model.dtype) for attr in (op.minimum, op.maximum))
    return model.op("Clip", *names, *map(model.constant, bounds))


def _pool(op: clml.PoolOp, model: _Model, names: Sequence[str]) -> str:
    kind = {"max": "MaxPool", "average": "AveragePool"}[op.kind.data]
    window = {
        "kernel_shape": ints(op.kernel),
        "strides": ints(op.strides),
        "pads": ints(op.pads),
    }
    return model.op(kind, *names, **window)


def _pad(op: clml.PadOp, model: _Model, names: Sequence[str]) -> str:
    assert op.mode.data is not clml.PadMode.SYMMETRIC or max(ints(op.pads)) <= 1
    mode = {"constant": "constant", "reflect": "reflect", "symmetric": "edge"}[op.mode.data]
    top, left, bottom, right = ints(op.pads)
    pads = np.array([0, 0, top, left, 0, 0, bottom, right], np.int64)
    return model.op("Pad", *names, model.constant(pads), mode=mode)


def _fully_connected(op: clml.FullyConnectedOp, model: _Model, names: Sequence[str]) -> str:
    w = model.reshape(names[1], clml.ml_tensor(op.w).get_shape()[2:])
    bias = [model.reshape(names[2], [-1])] if op.b is not None else []
    row = model.reshape(names[0], [1, -1])
    return model.op("Gemm", row, w, *bias, transB=int(is_true(op.transpose)))


def _gemm(op: clml.GemmOp, model: _Model, names: Sequence[str]) -> str:
    shapes = [clml.ml_tensor(v).get_shape() for v in (op.a, op.b)]
    a, b = model.reshape(names[0], shapes[0][:2]), model.reshape(names[1], shapes[1][2:])
    flags = {"transA": int(is_true(op.transpose_a)), "transB": int(is_true(op.transpose_b))}
    return model.op("Gemm", a, b, **flags)


def _resize(op: clml.ResizeBilinearOp, model: _Model, names: Sequence[str]) -> str:
    mode = "align_corners" if is_true(op.align_corners) else "asymmetric"
    sizes = model.constant(np.array(clml.ml_tensor(op.result).get_shape(), np.int64))
    ports = [*names, "", "", sizes]
    return model.op("Resize", *ports, mode="linear", coordinate_transformation_mode=mode)


def _command(op: clml.MLOp, model: _Model, names: list[str]) -> str:
    result = clml.ml_tensor(op.results[0]).get_shape()
    match op:
        case clml.CopyOp():
            return model.op("Identity", *names)
        case clml.Convolution():
            return _convolution(op, model, names)
        case clml.BatchNormOp():
            return _norm(model, names[0], names[1:], op.epsilon.value.data)
        case clml.ActivationOp():
            return _activation(model, names[0], op.activation.data)
        case clml.ClipOp():
            return _clip(op, model, names)
        case clml.BinaryOp():
            return model.op(op.kind.data.capitalize(), *names)
        case clml.PoolOp():
            return _pool(op, model, names)
        case clml.SoftmaxOp():
            return model.op("Softmax", *names, axis=1)
        case clml.PadOp():
            return _pad(op, model, names)
        case clml.ReshapeOp():
            return model.reshape(names[0], result)
        case clml.ConcatOp():
            return model.op("Concat", *names, axis=1)
        case clml.FullyConnectedOp():
            return model.reshape(_fully_connected(op, model, names), result)
        case clml.GemmOp():
            return model.reshape(_gemm(op, model, names), result)
        case clml.DepthToSpaceOp():
            return model.op("DepthToSpace", *names, blocksize=op.block.value.data, mode="DCR")
        case clml.ResizeBilinearOp():
            return _resize(op, model, names)
        case _:
            raise NotImplementedError(op.name)


def run_graph(graph: clml.GraphOp, inputs: Sequence[Array], weights: Weights) -> list[Array]:
    """The tensors that a graph returns for arrays in any shape of the right size."""
    half = graph.arithmetic_mode is not clml.Arithmetic.FP32
    model = _Model(half)
    element = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    feeds: dict[str, Array] = {}
    ports: list[onnx.ValueInfoProto] = []
    for value, array in zip(graph.inputs, inputs, strict=True):
        name = model.names[value] = model.name()
        sizes = clml.ml_tensor(value).get_shape()
        ports.append(helper.make_tensor_value_info(name, element, sizes))
        feeds[name] = array.reshape(sizes)
    for op in graph.body.block.ops:
        if isinstance(op, clml.ConstantOp):
            sizes = clml.ml_tensor(op.result).get_shape()
            array = weights.get(op.key.data)
            assert array.dtype == model.dtype
            model.names[op.result] = model.constant(array.reshape(sizes))
        elif isinstance(op, clml.MLOp):
            names = [model.names[value] for value in op.operands]
            model.names[op.results[0]] = _command(op, model, names)
    outputs = [
        helper.make_tensor_value_info(
            model.names[value], element, clml.ml_tensor(value).get_shape()
        )
        for value in graph.outputs
    ]
    proto = helper.make_model(
        helper.make_graph(model.nodes, "graph", ports, outputs, model.constants),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    return by_onnxruntime(proto, feeds)


def run_module(module: ModuleOp, inputs: Sequence[Array], weights: Weights) -> list[Array]:
    """The results of the function of a partitioned module."""
    graphs = {op.sym_name.data: op for op in module.ops if isinstance(op, clml.GraphOp)}
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    values: dict[SSAValue, Array] = dict(zip(function.body.block.args, inputs, strict=True))
    for op in function.body.block.ops:
        operands = [values[value] for value in op.operands]
        match op:
            case func.ReturnOp():
                return operands
            case nn.ConstantOp():
                array = nn.constant_value(op.result, weights)
                assert array is not None
                results: Sequence[Array] = (array,)
            case clml.CallOp():
                results = run_graph(graphs[op.graph_name], operands, weights)
            case _:
                results = evaluate(op, operands) or ()
        for value, array in zip(op.results, results, strict=True):
            values[value] = array.reshape(nn.shape_of(value))
    raise ValueError("the function returns nothing")
