"""Small models, written by hand, that use everything the C runtime can do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

import clopt
from clopt.targets import load_target
from clopt.weights import Weights
from support.cl.image_programs import blur, copies, lowered, memory
from support.cl.programs import parse
from support.clml import graph_programs
from support.onnx import models

ROOT = Path(__file__).parents[3]
DIGITS = str(ROOT / "examples" / "digits" / "digits.onnx")

_SHAPE = (2, 5, 7, 4)

_PARTS = """
tir.func @twice(%a: memref<64xf32>, %b: memref<64xf32>) attributes {
  outputs = array<i64: 1>, global_size = array<i64: 64>, local_size = array<i64: 1>
} {
  tir.for global_x %i = 0 to 64 {
    %v = memref.load %a[%i] : memref<64xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %b[%i] : memref<64xf32>
  }
}
cl.program @main(%x: memref<128xf32> {cl.name = "x"}, %y: memref<128xf32> {cl.name = "y"})
    inputs 1 {
  %arena = cl.arena : memref<1024xi8>
  %s = cl.buffer_view %arena[128] : memref<64xf32>
  %t = cl.buffer_view %arena[512] : memref<64xf32>
  %low = cl.view %y[0] : memref<128xf32> to memref<64xf32>
  %high = cl.view %y[256] : memref<128xf32> to memref<64xf32>
  %first = cl.view %x[0] : memref<128xf32> to memref<64xf32>
  %odd = cl.view %x[4] : memref<128xf32> to memref<64xf32>
  cl.enqueue_kernel @twice(%first, %s) : memref<64xf32>, memref<64xf32>
  cl.enqueue_kernel @twice(%s, %t) : memref<64xf32>, memref<64xf32>
  cl.enqueue_kernel @twice(%t, %low) : memref<64xf32>, memref<64xf32>
  cl.enqueue_copy %odd, %s : memref<64xf32>
  cl.enqueue_kernel @twice(%s, %high) : memref<64xf32>, memref<64xf32>
  cl.return
}
"""


def parts() -> clopt.CompiledModel:
    """Three launches, a copy, a launch: `8 * x[:64]`, then `2 * x[1:65]`."""
    return clopt.compile(parse(_PARTS), "generic")


def open_sizes() -> clopt.CompiledModel:
    """Sentences and tokens, both of open numbers, whose boxes are rectangles of the largest."""
    body = "t = Transpose<perm=[0,2,1]>(x) s = MatMul(x, t) p = Softmax<axis=2>(s) y = MatMul(p, x)"
    sizes = {"batch": (2, 3, 3), "tokens": (2, 6, 6)}
    return clopt.compile(models.model("float[batch,tokens,4] x", body), "generic", sizes)


def views() -> clopt.CompiledModel:
    """A filter whose images lie in the arena, on devices that have such."""
    weights, plain = Weights(), memory(_SHAPE, "f32")
    text = blur(_SHAPE, weights.add(np.ones((2, 3, 3, 4), np.float32)), "image2d")
    text = text.replace("@unpack(%u, %y)", "@unpack(%u, %v)")
    text = text.replace("%t = cl.alloc", "%t = cl.image_view %arena[128] pitch 640")
    text = text.replace("%u = cl.alloc", "%u = cl.image_view %arena[2048] pitch 640")
    buffer = "inputs 1 {\n  %arena = cl.arena : memref<8192xi8>\n  %v = cl.buffer_view %arena[128]"
    text = text.replace("inputs 1 {", f"{buffer} : {plain}")
    text = text.replace("cl.return", f"cl.enqueue_copy %v, %y : {plain}\n  cl.return")
    return clopt.compile(lowered(text, _adreno()), weights=weights)


def images() -> clopt.CompiledModel:
    """Image objects: copied from a buffer, to one another and to a buffer."""
    return clopt.compile(lowered(copies(_SHAPE, "f32", "image2d"), _adreno()))


def operations() -> clopt.CompiledModel:
    """A launch, then operations of CLML: a copy, a convolution, a pooling, a copy."""
    module, weights = graph_programs.row()
    return clopt.compile(module, "generic", weights=weights)


def turned() -> clopt.CompiledModel:
    """Operations of CLML, two of whose tensors share a place and have other sizes on a device."""
    module, weights = graph_programs.turned()
    return clopt.compile(module, "generic", weights=weights)


def both() -> clopt.CompiledModel:
    """Two plans: a launch, then a convolution and a pooling of CLML, or launches alone."""
    text = """
<ir_version: 8, opset_import: ["" : 17]>
net (float[1,3,8,8] x) => (float[1,8,4,4] y) {
  s = Softsign (x)
  c = Conv <pads = [1, 1, 1, 1]> (s, w, b)
  zero = Constant <value = float {0.0}> ()
  six = Constant <value = float {6.0}> ()
  r = Clip (c, zero, six)
  y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r)
}
"""
    model = onnx.parser.parse_model(text)
    for name, shape in (("w", (8, 3, 3, 3)), ("b", (8,))):
        array = np.random.default_rng(0).standard_normal(shape, np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return clopt.compile(model, "generic", clml="prefer", clml_version=3, fallback=True)


def _adreno() -> clopt.Target:
    return load_target("adreno-740").with_facts({"texture": "prefer", "float_coordinates": False})
