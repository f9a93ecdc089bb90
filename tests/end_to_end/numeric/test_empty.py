"""Tensors without elements, in every place: ONNX allows a dimension of 0."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto

import clopt
from clopt.dialects import cl
from support.onnx.models import by_onnxruntime, model, random_inputs

pytestmark = pytest.mark.in_turns

EMPTY = "float[0,4] x"
W = np.ones((1, 8, 4), np.float32)
R = np.ones((1, 8, 2), np.float32)

MODELS = {
    "elementwise": model(EMPTY, "y = Add(x, b)", constants={"b": [1.0, 2.0, 3.0, 4.0]}),
    "sum of nothing": model(EMPTY, "y = ReduceSum(x, a)", constants={"a": [0]}),
    "product of nothing": model(EMPTY, "y = ReduceProd(x, a)", constants={"a": [0]}),
    "maximum of nothing": model(EMPTY, "y = ReduceMax(x, a)", 20, {"a": [0]}),
    "sums of rows": model(EMPTY, "y = ReduceSum(x, a)", constants={"a": [1]}),
    "used at run time": model(
        EMPTY + ", float[3] z", "t = ReduceSum<keepdims=0>(x) y = Add(t, z)"
    ),
    "joined": model(EMPTY + ", float[2,4] z", "t = Relu(x) y = Concat<axis=0>(t, z)"),
    "products of no terms": model("float[2,0] x, float[0,3] z", "y = MatMul(x, z)"),
    "large products of no terms": model("float[500,0] x, float[0,500] z", "y = MatMul(x, z)"),
    "no rows": model("float[0,2] x, float[2,3] z", "y = MatMul(x, z)"),
    "convolution of no images": model(
        "float[0,1,8,8] x", "y = Conv(x, w)", constants={"w": np.ones((2, 1, 3, 3), np.float32)}
    ),
    "convolution of no channels": model(
        "float[1,0,8,8] x", "y = Conv(x, w)", constants={"w": np.ones((2, 0, 3, 3), np.float32)}
    ),
    "resize": model("float[0,1,2] x", "y = Resize(x, , s)", constants={"s": [1.0, 1.0, 2.0]}),
    "padding": model(EMPTY, "y = Pad(x, p)", constants={"p": [1, 0, 1, 0]}),
    "no slice": model(
        "float[3,4] x", "y = Slice(x, s, s, a)", constants={"s": [2], "a": [0]}
    ),
    "split off": model("float[3,4] x", "y, z = Split<axis=0>(x, s)", constants={"s": [0, 3]}),
    "no indices": model("float[3,4] x, int64[0] i", "y = Gather(x, i)"),
    "no updates": model("float[3,4] x, int64[0,1] i, float[0,4] u", "y = ScatterND(x, i, u)"),
    "no updates of elements": model(
        "float[3,4] x, int64[0,4] i, float[0,4] u", "y = ScatterElements(x, i, u)"
    ),
    "softmax": model("float[3,0] x", "y = Softmax(x)"),
    "no steps": model(
        "float[0,1,4] x", "y = LSTM<hidden_size=2>(x, w, r)", constants={"w": W, "r": R}
    ),
    "nothing to compute": model(EMPTY, "y = Identity(x)"),
    "one of two results": model(EMPTY + ", float[2] z", "y = Relu(x) w = Relu(z)"),
}  # fmt: skip


@pytest.mark.parametrize("proto", MODELS.values(), ids=MODELS.keys())
def test_empty(proto: ModelProto, device: str, tmp_path: Path) -> None:
    """As in onnxruntime, also when saved."""
    feeds = random_inputs(proto)
    compiled = clopt.compile(proto, device=device)
    compiled.save(tmp_path / "saved")
    expected = by_onnxruntime(proto, feeds)
    for ran in (compiled, clopt.load(tmp_path / "saved", device)):
        for got, want in zip(ran.run(feeds), expected, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-6)


def test_nothing_is_done_for_an_empty_result() -> None:
    proto = model("float[N,4] x", "t = Relu(x) y = Exp(t)")
    module = clopt.compile(proto, "pocl", {"N": 0}).module
    assert not [op for op in module.walk() if isinstance(op, cl.EnqueueKernelOp | cl.AllocOp)]
