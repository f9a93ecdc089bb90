"""Networks whose results for smaller sizes are leading boxes of those for larger ones."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from clopt.frontends.onnx import import_onnx
from clopt.passes.nn.restriction import DifferentElementsError, LargerNetwork, check_restriction
from clopt.weights import Weights
from support.onnx.models import by_onnxruntime, model

RNG = np.random.default_rng(0)
CONSTANTS = {
    "w": RNG.standard_normal((4, 4), np.float32),
    "zero": 0,
    "unit": 1,
    "zeros": [0],
    "ones": [1],
    "minus": [-1],
    "first": [-99],
    "flat": [-1, 6],
    "back": [2, -1, 6],
    "whole": [3, -1, 6],
    "heads": [3, -1, 2],
    "five": [5],
    "v": RNG.standard_normal((6, 6), np.float32),
    "gates": RNG.standard_normal((1, 20, 4), np.float32),
    "recurrence": RNG.standard_normal((1, 20, 5), np.float32),
}
SIZE = "shape = Shape(x) size = Gather(shape, zero)"


def network(inputs: str, body: str) -> onnx.ModelProto:
    return model(inputs, body, constants=CONSTANTS)


CONTAINED = {
    "elementwise": network("float[n,4] x", "y = Relu(x)"),
    "broadcast": network("float[n,4] x, float[1,4] z", "y = Add(x, z)"),
    "product of rows": network("float[n,4] x", "y = MatMul(x, w)"),
    "softmax of rows": network("float[n,4] x", "y = Softmax<axis=1>(x)"),
    "mean of rows": network("float[n,4,3] x", "y = ReduceMean<keepdims=0>(x, ones)"),
    "convolution": network(
        "float[n,2,6,6] x, float[3,2,3,3] k",
        "y = Conv<pads=[1,1,1,1]>(x, k) z = MaxPool<kernel_shape=[2,2]>(y)",
    ),
    "inner axis": network("float[4,n] x", "y = Transpose<perm=[1,0]>(x) z = Exp(y)"),
    "two axes": network("float[n,n] x", "y = Neg(x)"),
    "flattened": network("float[n,4,3] x", "y = Reshape(x, flat)"),
    "computed shape": network(
        "float[n,4,3] x",
        f"{SIZE} m = Unsqueeze(size, zeros) s = Concat<axis=0>(m, minus) y = Reshape(x, s)",
    ),
    "range": network(
        "float[n] x", f"{SIZE} r = Range(zero, size, unit) y = Cast<to=1>(r) z = Add(x, y)"
    ),
    "rows of joined axes": network(
        "float[2,n,6] x",
        "r = Reshape(x, flat) m = MatMul(r, v) a = Relu(m) y = Reshape(a, back)",
    ),
    "heads of joined axes": network(
        "float[3,n,6] x",
        """
            a = Reshape(x, heads)
            b = Transpose<perm=[1,0,2]>(a)
            c = Softmax<axis=2>(b)
            d = Transpose<perm=[1,0,2]>(c)
            y = Reshape(d, whole)
        """,
    ),
    "joined axes in order": network(
        "float[3,n,6] x", "r = Reshape(x, flat) a = Exp(r) b = Mul(a, r) y = Reshape(b, whole)"
    ),
    "looked up": network("int64[n] x, float[9,4] t", "y = Gather(t, x)"),
    "loop": network(
        "float[9,n,4] x", "y, h, c = LSTM<hidden_size=5>(x, gates, recurrence) z = Relu(y)"
    ),
    "dead end": network("float[n,4] x", f"{SIZE} d = Cast<to=1>(size) e = Mul(d, d) y = Abs(x)"),
}
"""Models that compute each row of size n without the others."""
del CONTAINED["dead end"].graph.output[0]

DIFFERENT = {
    "softmax of columns": network("float[n,4] x", "y = Softmax<axis=0>(x)"),
    "mean of columns": network("float[n,4] x", "y = ReduceMean<keepdims=0>(x, zeros)"),
    "reversed": network("float[n,4] x", "y = Slice(x, minus, first, zeros, minus)"),
    "last row": network("float[n,4] x", "y = Gather(x, minus)"),
    "joined": network("float[n,4] x", "y = Concat<axis=0>(x, x)"),
    "joined, flat": network("float[2,n,6] x", "y = Reshape(x, flat)"),
    "sum of joined rows": network(
        "float[2,n,6] x", "r = Reshape(x, flat) y = Softmax<axis=0>(r) z = Reshape(y, back)"
    ),
    "beginning of joined rows": network(
        "float[2,n,6] x", "r = Reshape(x, flat) y = Slice(r, zeros, five, zeros)"
    ),
    "joined rows and others": network(
        "float[2,n,6] x, float[n,2,6] z", "r = Reshape(x, flat) q = Reshape(z, flat) y = Add(r, q)"
    ),
    "size as a value": network("float[n,4] x", f"{SIZE} f = Cast<to=1>(size) y = Div(x, f)"),
    "window": network("float[1,2,n,6] x, float[3,2,3,3] k", "y = Conv<pads=[1,1,1,1]>(x, k)"),
    "sum of scattered rows": network(
        "float[n,4] x, int64[1,1] i, float[1,4] u", "y = ScatterND(x, i, u) z = ReduceSum(y)"
    ),
    "number of iterations": network(
        "float[n,2,4] x", "y, h, c = LSTM<hidden_size=5>(x, gates, recurrence) z = Relu(h)"
    ),
    "upside down": network("float[n,4] x", "y = CumSum<reverse=1>(x, zero)"),
}
"""Models where a row depends on others, or on the size."""


def results(proto: onnx.ModelProto, size: int, larger: int) -> tuple[list[np.ndarray], ...]:
    """What onnxruntime computes for some inputs, and for these inside of larger random ones."""
    smalls: dict[str, np.ndarray] = {}
    larges: dict[str, np.ndarray] = {}
    for value in proto.graph.input:
        dims = value.type.tensor_type.shape.dim
        shapes = [[n if d.dim_param else d.dim_value for d in dims] for n in (size, larger)]
        integers = value.type.tensor_type.elem_type == onnx.TensorProto.INT64
        large = RNG.integers(0, 2, shapes[1]) if integers else RNG.standard_normal(shapes[1])
        larges[value.name] = large.astype(np.int64 if integers else np.float32)
        smalls[value.name] = larges[value.name][tuple(map(slice, shapes[0]))].copy()
    return by_onnxruntime(proto, smalls), by_onnxruntime(proto, larges)


def contains(proto: onnx.ModelProto, size: int, larger: int) -> bool:
    """Whether the results for a size are leading boxes of those for a larger one."""
    small, large = results(proto, size, larger)
    boxes = [b[tuple(map(slice, a.shape))] for a, b in zip(small, large, strict=True)]
    return all(
        a.shape == b.shape and np.allclose(a, b, atol=1e-5)
        for a, b in zip(small, boxes, strict=True)
    )


def proved(proto: onnx.ModelProto, size: int, larger: int) -> tuple[tuple[int, ...], ...]:
    small, large = (
        (import_onnx(proto, weights := Weights(), {"n": n}), weights) for n in (size, larger)
    )
    return check_restriction(*small, LargerNetwork(*large)).shapes


@pytest.mark.parametrize("name", CONTAINED)
def test_results_inside_of_larger_ones(name: str):
    proto = CONTAINED[name]
    for size, larger in ((3, 4), (5, 8), (2, 16), (1, 8)):
        assert contains(proto, size, larger)
        wanted = tuple(each.shape for each in results(proto, size, larger)[0])
        assert proved(proto, size, larger) == wanted


@pytest.mark.parametrize("name", DIFFERENT)
def test_results_that_differ(name: str):
    proto = DIFFERENT[name]
    assert not contains(proto, 3, 4)
    with pytest.raises(DifferentElementsError):
        proved(proto, 3, 4)


def test_the_node_is_named():
    proto = DIFFERENT["softmax of columns"]
    proto.graph.node[0].name = "over the batch"
    with pytest.raises(DifferentElementsError, match="over the batch"):
        proved(proto, 3, 4)
