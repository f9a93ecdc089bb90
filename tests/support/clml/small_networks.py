"""Small networks in ONNX's text form, of which CLML computes all or parts."""

from __future__ import annotations

import numpy as np
import onnx
from onnx.numpy_helper import from_array

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

# All of it: one graph.
REFERENCE = {"clml": "reference"}
"""Lets the reference library compute what CLML does."""

CONV_RELU = """
conv_relu (float[1,3,8,8] x) => (float[1,5,8,8] y) {
  c = Conv<pads = [1, 1, 1, 1]>(x, w, b)
  y = Relu(c)
}
"""

# CLML has no Erf: a kernel, a graph, a kernel.
BETWEEN = """
between (float[1,3,8,8] x) => (float[1,5,4,4] y) {
  e = Erf(x)
  c = Conv<pads = [1, 1, 1, 1]>(e, w, b)
  r = Relu(c)
  p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(r)
  y = Erf(p)
}
"""

# Two graphs around a kernel, which reads a buffer of the one and writes one of the other.
AROUND = """
around (float[1,3,8,8] x) => (float[1,5,7,7] y) {
  c = Conv<pads = [1, 1, 1, 1]>(x, w, b)
  r = Relu(c)
  e = Erf(r)
  p = AveragePool<kernel_shape = [2, 2]>(e)
  y = Tanh(p)
}
"""

# One graph computes three outputs; a kernel of ours reads one of them.
OUTPUTS = """
outputs (float[1,3,8,8] x) => (float[1,5,8,8] y, float[1,5,8,8] z, float[1,5,4,4] p,
                               float[1,5,4,4] e) {
  c = Conv<pads = [1, 1, 1, 1]>(x, w, b)
  y = Relu(c)
  z = Sigmoid(y)
  p = AveragePool<kernel_shape = [2, 2], strides = [2, 2]>(y)
  e = Erf(p)
}
"""


def network(text: str) -> onnx.ModelProto:
    """The network with random weights."""
    model = onnx.parser.parse_model(HEAD + text)
    random = np.random.default_rng(0)
    w = random.standard_normal((5, 3, 3, 3)).astype(np.float32) / 5
    b = random.standard_normal(5).astype(np.float32)
    model.graph.initializer.extend([from_array(w, "w"), from_array(b, "b")])
    onnx.checker.check_model(model)
    return model
