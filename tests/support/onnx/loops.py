"""Models with loops of more iterations than are unrolled."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper

from support.onnx.models import model

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
BATCH, FEATURES, HIDDEN = 2, 3, 5


def recurrent(
    kind: str,
    time: int,
    direction: str = "forward",
    lengths: list[int] | None = None,
    hidden: int = HIDDEN,
) -> onnx.ModelProto:
    """A recurrent node with constant weights and initial states."""
    rng = np.random.default_rng(0)
    ways, gates = (2 if direction == "bidirectional" else 1), GATES[kind]
    states = 2 if kind == "LSTM" else 1

    def random(*shape: int) -> np.ndarray:
        return rng.uniform(-0.5, 0.5, shape).astype(np.float32)

    constants = {
        "w": random(ways, gates * hidden, FEATURES),
        "r": random(ways, gates * hidden, hidden),
        "b": random(ways, 2 * gates * hidden),
        **{f"s{i}": random(ways, BATCH, hidden) for i in range(states)},
    }
    inputs = ["x", "w", "r", "b", "", *(f"s{i}" for i in range(states))]
    if lengths is not None:
        constants["n"], inputs[4] = np.array(lengths, np.int32), "n"
    outputs = ["y", "h", "c"][: 1 + states]
    attributes = {"hidden_size": hidden, "direction": direction}
    node = helper.make_node(kind, inputs, outputs, "cell", **attributes)
    proto = model(f"float[{time},{BATCH},{FEATURES}] x", "y = Identity(x)", 14, constants)
    del proto.graph.node[:], proto.graph.output[:]
    proto.graph.node.append(node)
    proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in outputs)
    return proto


# Reads the number of the iteration, a tensor from outside, and two carried values. One stacked
# result is carried as well, one is a carried value that was read; the carried values change places.
LOOP = onnx.parser.parse_model("""
    <ir_version: 9, opset_import: ["": 17]>
    g (float[3] x, float[3] z) => (float[3] p, float[3] q, float[7,3] r, float[7,3] s) {
        n = Constant<value_int=7>()
        c = Constant<value = bool {1}>()
        p, q, r, s = Loop (n, c, x, z) <
            body = b (int64 i, bool going, float[3] a, float[3] d)
                => (bool more, float[3] e, float[3] next, float[3] row, float[3] old) {
                more = Identity(going)
                f = Cast<to=1>(i)
                t = Mul(f, x)
                u = Add(t, a)
                next = Sin(u)
                row = Identity(next)
                old = Identity(a)
                e = Identity(d)
            }
        >
    }
""")

# Rows of two tensors, one of them along another axis and backwards, and a result along axis 1.
SCAN = onnx.parser.parse_model("""
    <ir_version: 9, opset_import: ["": 17]>
    g (float[2] x, float[6,2] rows, float[2,6] columns)
        => (float[2] last, float[2,6] all, float[6,2] o) {
        last, all, o = Scan <
            num_scan_inputs = 2, scan_input_axes = [0, -1], scan_input_directions = [0, 1],
            scan_output_axes = [1, 0], scan_output_directions = [1, 0],
            body = b (float[2] a, float[2] r, float[2] k)
                => (float[2] next, float[2] row, float[2] m) {
                s = Add(a, r)
                next = Tanh(s)
                row = Identity(next)
                m = Mul(next, k)
            }
        > (x, rows, columns)
    }
""")
