"""Networks for larger sizes that compute the results for smaller ones after changes."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import clopt
from clopt.frontends.onnx import import_onnx
from clopt.passes.nn.restriction import (
    DifferentElementsError,
    LargerNetwork,
    apply_changes,
    check_restriction,
)
from clopt.restriction import Change, Restriction
from clopt.weights import Weights
from support.onnx.models import by_onnxruntime, model

RNG = np.random.default_rng(0)
LARGEST = 8
CONSTANTS = {
    "w": RNG.standard_normal((4, 4), np.float32),
    "zero": 0,
    "zeros": [0],
    "one": [1],
    "two": [2],
    "minus": [-1],
    "first": [-99],
    "flat": [-1, 6],
    "back": [2, -1, 6],
    "border": [0, 2, 0, 0, 3, 0],
    "ninth": np.array(9, np.float32),
}
ROWS = "float[n,4] x"
IMAGE = "float[1,2,n,6] x"
SIZE = "shape = Shape(x) size = Gather(shape, zero)"

CHANGED = {
    "softmax": (ROWS, "y = Softmax<axis=0>(x)"),
    "logarithm of softmax": (ROWS, "y = LogSoftmax<axis=0>(x)"),
    "mean": (ROWS, "y = ReduceMean<keepdims=0>(x, zeros)"),
    "product": (ROWS, "y = ReduceProd(x, zeros)"),
    "minimum": (ROWS, "y = ReduceMin(x, zeros)"),
    "norm": (ROWS, "y = ReduceL2(x, zeros)"),
    "logarithm of a sum": (ROWS, "y = ReduceLogSumExp(x, zeros)"),
    "greatest integer": ("int64[n,4] x", "y = ReduceMax(x, zeros)"),
    "first of the greatest": (ROWS, "y = ArgMax<axis=0>(x)"),
    "first of the least": (ROWS, "y = ArgMin<axis=0>(x)"),
    "least two": (ROWS, "y, i = TopK<axis=0,largest=0>(x, two)"),
    "sums from the end": (ROWS, "y = CumSum<reverse=1,exclusive=1>(x, zero)"),
    "product of columns": (ROWS, "t = Transpose<perm=[1,0]>(x) y = MatMul(t, x)"),
    "attention": (
        "float[2,n,4] x",
        "t = Transpose<perm=[0,2,1]>(x) s = MatMul(x, t) p = Softmax<axis=2>(s) y = MatMul(p, x)",
    ),
    "convolution and maximum": (
        f"{IMAGE}, float[3,2,3,3] k",
        """
            a = Conv<pads=[1,1,1,1], strides=[2,2]>(x, k)
            y = MaxPool<kernel_shape=[3,3], pads=[1,1,1,1]>(a)
        """,
    ),
    "strides that end at the last of an even number": (
        f"{IMAGE}, float[3,2,3,3] k, float[1,3,3,3] q",
        """
            a = Conv<pads=[1,1,1,1], strides=[2,2]>(x, k)
            y = Conv<pads=[1,1,1,1], strides=[2,2]>(a, q)
        """,
    ),
    "transposed convolution": (
        f"{IMAGE}, float[2,3,3,3] k",
        "y = ConvTranspose<strides=[2,2], pads=[1,1,1,1], output_padding=[1,1]>(x, k)",
    ),
    "average": (IMAGE, "y = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,1]>(x)"),
    "average with borders": (
        IMAGE,
        """
            y = AveragePool<
                kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=1, ceil_mode=1, strides=[2,2]
            >(x)
        """,
    ),
    "average of all": (IMAGE, "y = GlobalAveragePool(x)"),
    "border of zeros": ("float[1,n,4] x", "p = Pad(x, border) y = Softmax<axis=1>(p)"),
    "border of a number": ("float[1,n,4] x", "p = Pad(x, border, ninth) y = ReduceMax(p, one)"),
    "border of the edge": ("float[1,n,4] x", 'y = Pad<mode="edge">(x, border)'),
    "reversed": (ROWS, "y = Slice(x, minus, first, zeros, minus)"),
    "last row": (ROWS, "y = Gather(x, minus)"),
    "joined": (ROWS, "a = Concat<axis=0>(x, x) y = Softmax<axis=0>(a)"),
    "joined with a row": (f"{ROWS}, float[1,4] c", "a = Concat<axis=0>(x, c) y = MatMul(a, w)"),
    "sum of joined rows": (
        "float[2,n,6] x",
        "r = Reshape(x, flat) a = Softmax<axis=0>(r) y = Reshape(a, back)",
    ),
    "size as a value": (ROWS, f"{SIZE} f = Cast<to=1>(size) y = Div(x, f)"),
}
"""Models where a row depends on others, or on the size."""

REFUSED = {
    "rows at other places": ("float[2,n,6] x", "y = Reshape(x, flat)"),
    "joined rows and others": (
        "float[2,n,6] x, float[n,2,6] z",
        "r = Reshape(x, flat) q = Reshape(z, flat) y = Add(r, q)",
    ),
    "scattered rows": (
        "float[n,4] x, int64[1,1] i, float[1,4] u",
        "y = ScatterND(x, i, u) z = ReduceSum(y)",
    ),
    "rows from the end": ("float[n,4] x, int64[2] i", "y = Gather(x, i)"),
    "last of the greatest": (ROWS, "y = ArgMax<axis=0, select_last_index=1>(x)"),
}


def network(inputs: str, body: str) -> onnx.ModelProto:
    return model(inputs, body, constants=CONSTANTS)


class Changed:
    """A network for `LARGEST` that serves a smaller size."""

    def __init__(
        self, proto: onnx.ModelProto, size: int, changes: tuple[Change, ...] | None
    ) -> None:
        self.proto, self.size, self.weights = proto, size, Weights()
        small = import_onnx(proto, weights := Weights(), {"n": size})
        self.module = import_onnx(proto, self.weights, {"n": LARGEST})
        larger = LargerNetwork(self.module, self.weights)
        found = check_restriction(small, weights, larger, changes)
        self.restriction = Restriction.of_json(found.as_json())

    def inputs(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Random inputs, and larger ones that end with NaN."""
        smalls: dict[str, np.ndarray] = {}
        larges: dict[str, np.ndarray] = {}
        for value in self.proto.graph.input:
            dims = value.type.tensor_type.shape.dim
            small, large = (
                [n if dim.dim_param else dim.dim_value for dim in dims]
                for n in (self.size, LARGEST)
            )
            is_float = value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT
            smalls[value.name] = (
                RNG.standard_normal(small, np.float32) if is_float else RNG.integers(-9, 0, small)
            )
            larges[value.name] = np.full(large, np.nan if is_float else 9, smalls[value.name].dtype)
            larges[value.name][tuple(map(slice, small))] = smalls[value.name]
        return smalls, {**larges, **self.restriction.inputs}

    def check(self, device: str) -> None:
        """Compare the leading boxes of the results with onnxruntime's."""
        apply_changes(self.module, self.restriction.changes)
        self.module.verify()
        compiled = clopt.compile(self.module, device=device, weights=self.weights)
        smalls, larges = self.inputs()
        results = zip(
            compiled.run(larges),
            by_onnxruntime(self.proto, smalls),
            self.restriction.shapes,
            strict=True,
        )
        for found, wanted, shape in results:
            assert shape == wanted.shape
            box = found[tuple(map(slice, shape))]
            np.testing.assert_allclose(box, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.by_default(cases=4)
@pytest.mark.in_turns
@pytest.mark.parametrize("name", CHANGED)
def test_smaller_sizes_of_a_changed_network(name: str, device: str):
    """The changes for one size are those for others; inputs beyond them may be NaN."""
    proto = network(*CHANGED[name])
    typical = Changed(proto, 5, None)
    assert typical.restriction.changes
    typical.check(device)
    least = 2 if name == "least two" else 1
    for size in (least, 7, LARGEST):
        other = Changed(proto, size, typical.restriction.changes)
        assert other.restriction.changes == typical.restriction.changes
        other.check(device)


@pytest.mark.parametrize("name", CHANGED)
def test_changes_must_be_asked_for(name: str):
    with pytest.raises(DifferentElementsError):
        Changed(network(*CHANGED[name]), 5, ())


@pytest.mark.parametrize("name", REFUSED)
def test_networks_that_cannot_be_changed(name: str):
    with pytest.raises(DifferentElementsError):
        Changed(network(*REFUSED[name]), 5, None)
