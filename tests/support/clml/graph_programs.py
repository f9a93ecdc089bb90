"""Programs with CLML graphs, written by hand: one with a row of operations, one with all kinds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects import clml
from clopt.dialects.clml import Arithmetic, Layout, Usage
from clopt.dialects.nn.types import numpy_dtype
from clopt.weights import Weights

F = "f32"


def parse(text: str) -> ModuleOp:
    """A verified module."""
    module = Parser(CloptContext(), text).parse_module()
    module.verify()
    return module


def optimal(*sizes: int, usage: str = "") -> str:
    """The type of a tensor in the device's own layout."""
    return tensor(*sizes, layout="optimal", usage=usage)


def tensor(*sizes: int, layout: str = "nchw", usage: str = "") -> str:
    """The type of a tensor."""
    behind = f", {usage}" if usage else ""
    return f"!clml.tensor<{'x'.join(map(str, sizes))}x{F}, {layout}{behind}>"


def parameter(weights: Weights, name: str, *sizes: int, seed: int = 0) -> str:
    """A constant with random numbers."""
    array = np.random.default_rng(seed).standard_normal(sizes).astype(np.float32)
    key = weights.add(array, name)
    return f'%{name} = clml.constant "{key}" : {optimal(*sizes, usage="parameter")}\n'


def row() -> tuple[ModuleOp, Weights]:
    """A kernel, then a graph of a copy, a convolution with relu6, a pooling, a copy.

    The kernel doubles x; its result is a part of the arena, and so are the graph's tensors but its
    last, which is the output.
    """
    weights = Weights()
    x, y = "memref<1x3x8x8xf32>", "memref<1x8x4x4xf32>"
    a, c = optimal(1, 3, 8, 8), optimal(1, 8, 8, 8)
    p, w, b = (
        optimal(1, 8, 4, 4),
        optimal(8, 3, 3, 3, usage="parameter"),
        optimal(1, 8, 1, 1, usage="parameter"),
    )
    constants = parameter(weights, "w", 8, 3, 3, 3) + parameter(weights, "b", 1, 8, 1, 1, seed=1)
    text = f"""
clml.graph @clml_0(%x: {tensor(1, 3, 8, 8)}) -> {tensor(1, 8, 4, 4)} version 3 arithmetic fp32 {{
  {constants}
  %a = clml.copy %x : {tensor(1, 3, 8, 8)} -> {a}
  %c = clml.conv_activation relu6 %a, %w, %b {{strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>}} : ({a}, {w}, {b}) -> {c}
  %p = clml.pool max %c {{kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>,
    pads = array<i64: 0, 0, 0, 0>}} : ({c}) -> {p}
  %y = clml.copy %p : {p} -> {tensor(1, 8, 4, 4)}
  clml.return %y : {tensor(1, 8, 4, 4)}
}}
tir.func @twice(%a: memref<192xf32>, %b: memref<192xf32>) attributes {{
  outputs = array<i64: 1>, global_size = array<i64: 192>, local_size = array<i64: 1>
}} {{
  tir.for global_x %i = 0 to 192 {{
    %v = memref.load %a[%i] : memref<192xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %b[%i] : memref<192xf32>
  }}
}}
cl.program @main(%x: {x} {{cl.name = "x"}}, %y: {y} {{cl.name = "y"}}) inputs 1 {{
  %arena = cl.arena : memref<8192xi8>
  %t = cl.buffer_view %arena[0] : {x}
  %a = cl.buffer_view %arena[1024] : memref<1024xi8>
  %c = cl.buffer_view %arena[2048] : memref<2048xi8>
  %p = cl.buffer_view %arena[1024] : memref<512xi8>
  %from = cl.view %x : {x} to memref<192xf32>
  %to = cl.view %t : {x} to memref<192xf32>
  cl.enqueue_kernel @twice(%from, %to) : memref<192xf32>, memref<192xf32>
  cl.enqueue_offload @clml_0[0] (%t) -> (%a) : {x}, memref<1024xi8>
  cl.enqueue_offload @clml_0[1] (%a) -> (%c) : memref<1024xi8>, memref<2048xi8>
  cl.enqueue_offload @clml_0[2] (%c) -> (%p) : memref<2048xi8>, memref<512xi8>
  cl.enqueue_offload @clml_0[3] (%p) -> (%y) : memref<512xi8>, {y}
  cl.return
}}
"""
    return parse(text), weights


def turned() -> tuple[ModuleOp, Weights]:
    """A graph whose first and third tensor share a place, one with twice the rows of the other."""
    weights = Weights()
    x, y = "memref<1x4x8x4xf32>", "memref<1x4x4x8xf32>"
    a, c = optimal(1, 4, 8, 4), optimal(1, 4, 4, 8)
    w, b = optimal(4, 4, 1, 1, usage="parameter"), optimal(1, 4, 1, 1, usage="parameter")
    constants = parameter(weights, "w", 4, 4, 1, 1) + parameter(weights, "b", 1, 4, 1, 1, seed=1)
    text = f"""
clml.graph @clml_0(%x: {tensor(1, 4, 8, 4)}) -> {tensor(1, 4, 4, 8)} version 3 arithmetic fp32 {{
  {constants}
  %a = clml.copy %x : {tensor(1, 4, 8, 4)} -> {a}
  %b1 = clml.conv_activation relu6 %a, %w, %b {{strides = array<i64: 1, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>}} : ({a}, {w}, {b}) -> {a}
  %c = clml.conv_activation relu6 %b1, %w, %b {{strides = array<i64: 2, 1>,
    dilations = array<i64: 1, 1>, pads = array<i64: 0, 2, 0, 2>}} : ({a}, {w}, {b}) -> {c}
  %y = clml.copy %c : {c} -> {tensor(1, 4, 4, 8)}
  clml.return %y : {tensor(1, 4, 4, 8)}
}}
cl.program @main(%x: {x} {{cl.name = "x"}}, %y: {y} {{cl.name = "y"}}) inputs 1 {{
  %arena = cl.arena : memref<1024xi8>
  %a = cl.buffer_view %arena[0] : memref<512xi8>
  %b = cl.buffer_view %arena[512] : memref<512xi8>
  %c = cl.buffer_view %arena[0] : memref<512xi8>
  cl.enqueue_offload @clml_0[0] (%x) -> (%a) : {x}, memref<512xi8>
  cl.enqueue_offload @clml_0[1] (%a) -> (%b) : memref<512xi8>, memref<512xi8>
  cl.enqueue_offload @clml_0[2] (%b) -> (%c) : memref<512xi8>, memref<512xi8>
  cl.enqueue_offload @clml_0[3] (%c) -> (%y) : memref<512xi8>, {y}
  cl.return
}}
"""
    return parse(text), weights


class _Graph:
    """Puts commands one behind the other, each named after its result."""

    def __init__(self, weights: Weights, element: Attribute) -> None:
        self.weights = weights
        self.element = element
        self.block = Block(arg_types=[self.type(1, 8, 8, 8, layout=Layout.NCHW)])

    def type(
        self, *sizes: int, layout: Layout = Layout.OPTIMAL, usage: Usage = Usage.CNN
    ) -> clml.MLTensorType:
        return clml.MLTensorType(sizes, self.element, layout, usage)

    def add(self, name: str, op: Operation) -> SSAValue:
        self.block.add_op(op)
        op.results[0].name_hint = name
        return op.results[0]

    def constant(self, name: str, *sizes: int, layout: Layout = Layout.OPTIMAL) -> SSAValue:
        seed = sum(map(ord, name))
        array = np.random.default_rng(seed).uniform(0.1, 0.9, sizes)
        key = self.weights.add(array.astype(numpy_dtype(self.element)), name)
        type_ = self.type(*sizes, layout=layout, usage=Usage.PARAMETER)
        return self.add(name, clml.ConstantOp(key, type_))

    def vectors(self, name: str, channels: int, count: int = 4) -> list[SSAValue]:
        return [self.constant(f"{name}{i}", 1, channels, 1, 1) for i in range(count)]


def _convolutions(g: _Graph, x: SSAValue) -> SSAValue:
    depthwise = g.constant("wd", 1, 8, 3, 5)
    pads, to = (1, 2, 1, 2), g.type(1, 8, 8, 4)
    x = g.add(
        "depthwise",
        clml.ConvOp(x, depthwise, None, to, mode="depthwise", strides=(1, 2), pads=pads),
    )
    (bias,) = g.vectors("bt", 4, 1)
    to = g.type(1, 4, 16, 8)
    transposed = g.constant("wt", 4, 8, 2, 2)
    x = g.add("transposed", clml.ConvOp(x, transposed, bias, to, mode="transpose", strides=(2, 2)))
    (bias,) = g.vectors("ba", 6, 1)
    weight, to = g.constant("wa", 6, 4, 3, 3), g.type(1, 6, 14, 10)
    x = g.add(
        "relu",
        clml.ConvActivationOp(
            x, weight, bias, to, activation="relu", dilations=(2, 1), pads=(0, 1, 2, 3)
        ),
    )
    weight = g.constant("wn", 6, 6, 1, 1)
    x = g.add("normed", clml.ConvBatchNormOp(x, weight, None, *g.vectors("n", 6), to, epsilon=1e-3))
    (bias,) = g.vectors("bm", 8, 1)
    weight, to = g.constant("wm", 8, 6, 1, 1), g.type(1, 8, 14, 10)
    statistics = g.vectors("m", 8)
    return g.add(
        "relu6",
        clml.ConvBatchNormActivationOp(
            x, weight, bias, *statistics, to, activation="relu6", epsilon=2e-5
        ),
    )


def _planes(g: _Graph, x: SSAValue) -> SSAValue:
    to = g.type(1, 8, 14, 10)
    x = g.add("norm", clml.BatchNormOp(x, *g.vectors("p", 8), to, epsilon=1e-5))
    x = g.add("sigmoid", clml.ActivationOp(x, to, activation="sigmoid"))
    x = g.add("tanh", clml.ActivationOp(x, to, activation="tanh"))
    to = g.type(1, 8, 7, 5)
    window: dict[str, Sequence[int]] = {"kernel": (2, 3), "strides": (2, 2), "pads": (0, 1, 0, 1)}
    average = g.add("average", clml.PoolOp(x, to, kind="average", **window))
    most = g.add("most", clml.PoolOp(x, to, kind="max", **window))
    x = g.add("larger", clml.BinaryOp(average, most, to, kind="max"))
    pads = (1, 2, 3, 3)
    x = g.add("padded", clml.PadOp(x, g.type(1, 8, 11, 10), mode="reflect", pads=pads))
    blocks = g.add("blocks", clml.DepthToSpaceOp(x, g.type(1, 2, 22, 20), block=2))
    to = g.type(1, 2, 11, 10)
    small = g.add("small", clml.ResizeBilinearOp(blocks, to, align_corners=True))
    to = g.type(1, 10, 11, 10)
    x = g.add("both", clml.ConcatOp([x, small], to))
    clipped = g.add("clipped", clml.ClipOp(x, to, minimum=-0.5, maximum=6.25))
    return g.add("difference", clml.BinaryOp(x, clipped, to, kind="sub"))


def kinds(arithmetic: Arithmetic = Arithmetic.FP32) -> tuple[ModuleOp, Weights]:
    """A graph with every kind of command, called by a function: 1x8x8x8 to 1x3."""
    weights = Weights()
    g = _Graph(weights, clml.ELEMENT_TYPES[arithmetic])
    x = g.add("entry", clml.CopyOp(g.block.args[0], g.type(1, 8, 8, 8)))
    x = _planes(g, _convolutions(g, x))
    x = g.add("flat", clml.ReshapeOp(x, g.type(1, 1100, 1, 1)))
    (bias,) = g.vectors("bf", 5, 1)
    weight = g.constant("wf", 1, 1, 5, 1100)
    x = g.add("dense", clml.FullyConnectedOp(x, weight, bias, g.type(1, 5, 1, 1)))
    x = g.add("softmax", clml.SoftmaxOp(x, g.type(1, 5, 1, 1)))
    x = g.add("exit", clml.CopyOp(x, g.type(1, 5, 1, 1, layout=Layout.NCHW)))
    matrix = g.constant("wg", 1, 1, 3, 5, layout=Layout.NCHW)
    to = g.type(1, 3, 1, 1, layout=Layout.NCHW)
    y = g.add("product", clml.GemmOp(x, matrix, to, m=1, n=3, k=5, transpose_b=True))
    g.block.add_op(clml.ReturnOp([y]))
    graph = clml.GraphOp("clml_0", 3, arithmetic, Region(g.block))
    types = [TensorType(g.element, [1, 8, 8, 8]), TensorType(g.element, [1, 3])]
    body = Block(arg_types=types[:1])
    body.args[0].name_hint = "x"
    call = clml.CallOp("clml_0", body.args, types[1:])
    body.add_ops([call, func.ReturnOp(call.results[0])])
    main = func.FuncOp("main", (types[:1], types[1:]), Region(body))
    module = ModuleOp([graph, main])
    module.verify()
    return module, weights
