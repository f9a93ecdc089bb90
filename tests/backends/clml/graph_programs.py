"""Programs with CLML graphs, written by hand: one with a row of operations, one with all kinds."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from clopt.context import CloptContext
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
    p, w, b = optimal(1, 8, 4, 4), optimal(8, 3, 3, 3, usage="parameter"), optimal(
        1, 8, 1, 1, usage="parameter"
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
  cl.enqueue_ml_op @clml_0[0] (%t) -> (%a) : {x}, memref<1024xi8>
  cl.enqueue_ml_op @clml_0[1] (%a) -> (%c) : memref<1024xi8>, memref<2048xi8>
  cl.enqueue_ml_op @clml_0[2] (%c) -> (%p) : memref<2048xi8>, memref<512xi8>
  cl.enqueue_ml_op @clml_0[3] (%p) -> (%y) : memref<512xi8>, {y}
  cl.return
}}
"""
    return parse(text), weights
