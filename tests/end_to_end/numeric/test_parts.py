"""Values that are parts of others, or take the place of others, give onnxruntime's answers."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest

import clopt

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

MODELS = {
    "join": """g (float[1,4,8,8] x, float[1,2,8,8] z) => (float[1,10,8,8] y) {
        a = Softmax<axis=3>(x)
        b = Softmax<axis=2>(z)
        c = MaxPool<kernel_shape=[3,3], pads=[1,1,1,1]>(x)
        j = Concat<axis=1>(a, b, c)
        y = Softmax<axis=3>(j)
    }""",
    "copies of an input, of itself and of what starts anywhere": """
    g (float[1,1,7,3] x, float[1,8,7,3] z) => (float[1,18,7,3] y, float[1,18,7,3] w) {
        a = Softmax<axis=3>(z)
        b = Softmax<axis=2>(x)
        y = Concat<axis=1>(a, b, a, x)
        w = Softmax<axis=3>(y)
    }""",
    "dense block": """g (float[1,4,8,8] x) => (float[1,16,8,8] y) {
        a = Softmax<axis=3>(x)
        p = Concat<axis=1>(x, a)
        b = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1]>(a)
        c = Concat<axis=1>(a, b)
        d = Softmax<axis=3>(c)
        e = Concat<axis=1>(a, b, d)
        f = Softmax<axis=2>(e)
        q = Softmax<axis=3>(p)
        r = Concat<axis=1>(q, d)
        y = Add(f, r)
    }""",
    "halves": """g (float[1,8,8,8] x) => (float[1,12,8,8] y) {
        a = Softmax<axis=3>(x)
        b, c = Split<axis=1>(a)
        d = Softmax<axis=2>(c)
        e = Concat<axis=1>(b, c, d)
        y = Softmax<axis=3>(e)
    }""",
    "place taken": """g (float[1,8,8,8] x) => (float[1,8,8,8] y) {
        a = Softmax<axis=3>(x)
        b = AveragePool<kernel_shape=[3,3], pads=[1,1,1,1]>(a)
        s = Add(a, b)
        c = Softmax<axis=3>(s)
        d = MaxPool<kernel_shape=[3,3], pads=[1,1,1,1]>(c)
        e = Mul(d, c)
        y = Softmax<axis=2>(e)
    }""",
}


@pytest.mark.parametrize("name", MODELS)
def test_parts(name: str, device: str) -> None:
    model = onnx.parser.parse_model(HEAD + MODELS[name])
    rng = np.random.default_rng(0)
    inputs = {
        value.name: rng.standard_normal(
            [d.dim_value for d in value.type.tensor_type.shape.dim]
        ).astype(np.float32)
        for value in model.graph.input
    }
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)
    for found, wanted in zip(
        clopt.compile(model, device=device).run(inputs), expected, strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
