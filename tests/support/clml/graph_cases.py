"""Commands of CLML that no ONNX model leads to: other layouts, fused batch norms, mirrored pads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType, f16, f32
from xdsl.ir import Block, Region, SSAValue

from clopt.dialects import clml
from clopt.dialects.clml import Layout, MLTensorType, Shape, Usage
from clopt.weights import Weights
from support.clml.single_ops import Case, Values, statistics, weights_of

LAYOUTS = (Layout.OPTIMAL, Layout.NHWC)
"""Besides NCHW, in which functions of a model's inputs are."""


class Graph:
    """A graph while its commands are added."""

    def __init__(self, case: Case, weights: Weights, arithmetic: str) -> None:
        self.element = f32 if arithmetic == "fp32" else f16
        self.weights = weights
        self.arrays = weights_of(case)
        self.dtype = np.float32 if arithmetic == "fp32" else np.float16
        types = [MLTensorType(size, self.element, Layout.NCHW) for size in case.inputs.values()]
        self.block = Block(arg_types=types)
        self.inputs = dict(zip(case.inputs, self.block.args, strict=True))

    def type(self, sizes: Sequence[int], layout: Layout = Layout.OPTIMAL) -> MLTensorType:
        """That of a computed tensor."""
        return MLTensorType(sizes, self.element, layout)

    def add(self, make: Callable[..., clml.MLOp], *operands: Any, **properties: Any) -> SSAValue:
        """A command; the last operand is the type of its result."""
        op = make(*operands, **properties)
        self.block.add_op(op)
        return op.results[0]

    def to(self, value: SSAValue, layout: Layout) -> SSAValue:
        """The tensor in a layout."""
        type_ = clml.ml_tensor(value)
        if type_.layout is layout:
            return value
        return self.add(clml.CopyOp, value, self.type(type_.get_shape(), layout))

    def read(self, name: str, layout: Layout = Layout.OPTIMAL) -> SSAValue:
        """An input in a layout."""
        return self.to(self.inputs[name], layout)

    def weight(self, name: str, sizes: Shape) -> SSAValue:
        """A parameter."""
        key = self.weights.add(self.arrays[name].astype(self.dtype), name)
        op = clml.ConstantOp(key, MLTensorType(sizes, self.element, usage=Usage.PARAMETER))
        self.block.add_op(op)
        return op.result


@dataclass(frozen=True)
class GraphCase:
    """Nodes of ONNX and the graph that computes the same."""

    case: Case
    build: Callable[[Graph], SSAValue]
    """Adds the commands; the result, in any layout."""


def _elements() -> Iterator[GraphCase]:
    x = (1, 6, 7, 5)
    bounds: dict[str, Values] = {"low": np.array(-1.5), "high": np.array(2.0)}
    six: dict[str, Values] = {"zero": np.array(0.0), "six": np.array(6.0)}
    for layout in LAYOUTS:
        for kind, nodes, weights in (
            ("relu", "y = Relu(x)", {}),
            ("relu6", "y = Clip(x, zero, six)", six),
            ("sigmoid", "y = Sigmoid(x)", {}),
            ("tanh", "y = Tanh(x)", {}),
        ):

            def activate(g: Graph, layout: Layout = layout, kind: str = kind) -> SSAValue:
                x_ = g.read("x", layout)
                return g.add(clml.ActivationOp, x_, g.type(x, layout), activation=kind)

            case = Case(f"{kind}_{layout}", nodes, {"x": x}, "", weights, span=(-9, 9))
            yield GraphCase(case, activate)

        def clip(g: Graph, layout: Layout = layout) -> SSAValue:
            x_ = g.read("x", layout)
            return g.add(clml.ClipOp, x_, g.type(x, layout), minimum=-1.5, maximum=2.0)

        nodes = "y = Clip(x, low, high)"
        yield GraphCase(Case(f"clip_{layout}", nodes, {"x": x}, "", bounds, span=(-9, 9)), clip)
        for node in ("Add", "Sub", "Mul", "Div", "Min", "Max"):

            def pair(g: Graph, layout: Layout = layout, node: str = node) -> SSAValue:
                a, b = g.read("a", layout), g.read("b", layout)
                return g.add(clml.BinaryOp, a, b, g.type(x, layout), kind=node.lower())

            name, inputs = f"{node.lower()}_{layout}", {"a": x, "b": x}
            yield GraphCase(Case(name, f"y = {node}(a, b)", inputs, "", span=(0.5, 2)), pair)


def _movements() -> Iterator[GraphCase]:
    x = (1, 6, 5, 4)
    for layout in (Layout.OPTIMAL, Layout.NCHW):

        def reshape(g: Graph, layout: Layout = layout) -> SSAValue:
            return g.add(clml.ReshapeOp, g.read("x", layout), g.type((1, 10, 3, 4), layout))

        fixed = {"shape": np.array((1, 10, 3, 4))}
        case = Case(f"reshape_{layout}", "y = Reshape(x, shape)", {"x": x}, "", fixed=fixed)
        yield GraphCase(case, reshape)

    def copies(g: Graph) -> SSAValue:
        # A copy alone does not tell CLML how an optimal tensor lies.
        value = g.to(g.read("x", Layout.NHWC), Layout.OPTIMAL)
        value = g.add(clml.ActivationOp, value, g.type(x), activation="tanh")
        return g.to(g.to(value, Layout.NHWC), Layout.NCHW)

    yield GraphCase(Case("copies", "y = Tanh(x)", {"x": x}, ""), copies)

    def symmetric(g: Graph) -> SSAValue:
        pads = (3, 1, 2, 4)
        return g.add(clml.PadOp, g.read("x"), g.type((1, 6, 10, 9)), mode="symmetric", pads=pads)

    rows = np.pad(np.arange(5), (3, 2), mode="symmetric")
    columns = np.pad(np.arange(4), (1, 4), mode="symmetric")
    nodes = "r = Gather<axis = 2>(x, rows) y = Gather<axis = 3>(r, columns)"
    fixed = {"rows": rows, "columns": columns}
    yield GraphCase(Case("pad_symmetric", nodes, {"x": x}, "", fixed=fixed), symmetric)


@dataclass(frozen=True)
class _Convolution:
    """Sizes of a mode of convolution: ONNX's weight, CLML's, and the result's."""

    node: str
    weight: Shape
    sizes: Shape
    result: Shape
    window: Mapping[str, Sequence[int]]


_X = (1, 6, 9, 8)
_WINDOW = {"pads": (1, 0, 2, 1), "strides": (2, 1), "dilations": (1, 1)}
_CONVOLUTIONS = {
    "convolution": _Convolution(
        "Conv<pads = [1, 0, 2, 1], strides = [2, 1]>",
        (5, 6, 3, 3),
        (5, 6, 3, 3),
        (1, 5, 5, 7),
        _WINDOW,
    ),
    "depthwise": _Convolution(
        "Conv<pads = [1, 0, 2, 1], strides = [2, 1], group = 6>",
        (6, 1, 3, 3),
        (1, 6, 3, 3),
        (1, 6, 5, 7),
        _WINDOW,
    ),
    "transpose": _Convolution(
        "ConvTranspose<pads = [1, 0, 2, 1], strides = [2, 1]>",
        (6, 6, 3, 3),
        (6, 6, 3, 3),
        (1, 6, 16, 9),
        _WINDOW,
    ),
}
_TAILS = {"": "y = Identity(n)", "relu": "y = Relu(n)", "relu6": "y = Clip(n, zero, six)"}


def _norms() -> Iterator[GraphCase]:
    """A convolution and a batch normalisation, alone and with each activation."""
    for number, ((mode, conv), function) in enumerate(product(_CONVOLUTIONS.items(), _TAILS)):
        bias = number % 2 == 0  # each mode and each function with and without

        def fused(
            g: Graph,
            mode: str = mode,
            conv: _Convolution = conv,
            function: str = function,
            bias: bool = bias,
        ) -> SSAValue:
            channels: Shape = (1, conv.result[1], 1, 1)
            if mode == "transpose":
                g.arrays["w"] = g.arrays["w"].swapaxes(0, 1).copy()
            w = g.weight("w", conv.sizes)
            b = g.weight("b", channels) if bias else None
            vectors = [g.weight(n, channels) for n in ("mean", "variance", "scale", "shift")]
            make = clml.ConvBatchNormActivationOp if function else clml.ConvBatchNormOp
            more = {"activation": function} if function else {}
            operands = (g.read("x"), w, b, *vectors, g.type(conv.result))
            return g.add(make, *operands, mode=mode, epsilon=0.01, **conv.window, **more)

        channels = conv.result[1]
        nodes = (
            f"c = {conv.node}(x, w{', b' if bias else ''}) "
            "n = BatchNormalization<epsilon = 0.01>(c, scale, shift, mean, variance) "
            f"{_TAILS[function]}"
        )
        weights: dict[str, Values] = {"w": conv.weight, **statistics(channels)}
        weights["shift"] = weights.pop("bias")
        weights |= {"b": (channels,)} if bias else {}
        weights |= {"zero": np.array(0.0), "six": np.array(6.0)} if function == "relu6" else {}
        name = "_".join(filter(None, ["norm", mode, function, "bias" if bias else ""]))
        yield GraphCase(Case(name, nodes, {"x": _X}, "", weights, span=(-6, 6)), fused)


GRAPH_CASES = [*_elements(), *_movements(), *_norms()]


def module_of(cases: Sequence[GraphCase], arithmetic: str) -> tuple[ModuleOp, Weights]:
    """A module with a graph for each case, which all are called with inputs in order."""
    weights = Weights()
    graphs: list[clml.GraphOp] = []
    for each in cases:
        g = Graph(each.case, weights, arithmetic)
        result = g.to(each.build(g), Layout.NCHW)
        g.block.add_op(clml.ReturnOp([result]))
        graphs.append(clml.GraphOp(each.case.name, 3, arithmetic, Region(g.block)))
    inputs = [value.type for graph in graphs for value in graph.inputs]
    plain = [TensorType(t.element_type, t.get_shape()) for t in inputs]
    block = Block(arg_types=plain)
    arguments = iter(block.args)
    outputs: list[SSAValue] = []
    for graph in graphs:
        type_ = clml.ml_tensor(graph.outputs[0])
        call = clml.CallOp(
            graph.sym_name.data,
            [next(arguments) for _ in graph.inputs],
            [TensorType(type_.element_type, type_.get_shape())],
        )
        block.add_op(call)
        outputs.append(call.res[0])
    block.add_op(func.ReturnOp(*outputs))
    signature = (plain, [value.type for value in outputs])
    module = ModuleOp([*graphs, func.FuncOp("main", signature, Region(block))])
    module.verify()
    return module, weights
