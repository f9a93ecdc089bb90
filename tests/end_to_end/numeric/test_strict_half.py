"""Networks of halves that round the result of every operation, bit for bit as numpy does."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import clopt
from clopt.errors import CloptError
from support.onnx.models import model

pytestmark = pytest.mark.in_turns

CHAINS: Mapping[str, str] = {
    # Fused, these would round once; a product and a sum would be one fma.
    "sums of products": "p = Mul(a, b) q = Add(p, c) r = Mul(q, a) y = Sub(r, b)",
    "quotients and roots": "d = Div(a, b) e = Abs(d) s = Sqrt(e) y = Mul(s, c)",
    "activations": "r = Relu(a) m = Max(r, b) n = Neg(m) k = Clip(n) y = Add(k, c)",
    "products of matrices": "m = MatMul(a, t) y = Add(m, c)",
    "functions": "h = HardSwish(a) l = LeakyRelu(h) e = ThresholdedRelu(l) y = Sub(e, b)",
    "moved": "p = Mul(a, b) t2 = Transpose(p) u = Reshape(t2, shape) y = Add(u, c)",
    "means": "m = ReduceMean<axes=[1]>(a) s = Sub(a, m) q = Mul(s, s) y = Add(q, m)",
}


def chain(body: str) -> onnx.ModelProto:
    """A model of 6x16 halves."""
    inputs = "float16[6,16] a, float16[6,16] b, float16[6,16] c, float16[16,16] t"
    return model(inputs, body, 17, {"shape": [6, 16]})


def values(proto: onnx.ModelProto, seed: int) -> dict[str, np.ndarray]:
    """Random halves of magnitudes that round in every sum."""
    rng = np.random.default_rng(seed)
    shapes = {
        v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in proto.graph.input
    }
    return {
        name: (rng.uniform(0.1, 4, shape) * rng.choice([-1, 1], shape)).astype(np.float16)
        for name, shape in shapes.items()
    }


@pytest.mark.parametrize("target", ["adreno-740", "nvidia"])
def test_no_result_is_written_to_an_image(target: str) -> None:
    """The device would choose how it rounds."""
    proto = chain(CHAINS["products of matrices"])
    assert "write_image" in clopt.compile(proto, target, texture="prefer").source
    compiled = clopt.compile(proto, target, strict_half=True, texture="prefer")
    assert "write_image" not in compiled.source


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.by_default(cases=2)
def test_chains_are_rounded_like_numpy(device: str, name: str) -> None:
    proto = chain(CHAINS[name])
    compiled = clopt.compile(proto, device=device, strict_half=True)
    for seed in range(3):
        feeds = values(proto, seed)
        wanted = ReferenceEvaluator(proto).run(None, feeds)
        for got, value in zip(compiled.run(feeds), wanted, strict=True):
            assert got.dtype == np.float16
            np.testing.assert_array_equal(got, value)


ATTENTION: Mapping[str, str] = {
    "plain": "y = Attention(q, k, v)",
    "causal": "y = Attention<is_causal=1>(q, k, v)",
    "scaled": "y = Attention<scale=0.3>(q, k, v)",
}


@pytest.mark.parametrize("name", ATTENTION)
@pytest.mark.by_default(cases=1)
def test_attention_is_rounded_step_by_step(device: str, name: str) -> None:
    """By default its steps are not rounded, which ONNX's expanded test of the causal form shows."""
    inputs = "float16[2,3,4,8] q, float16[2,3,6,8] k, float16[2,3,6,8] v"
    proto = model(inputs, ATTENTION[name], 23)
    compiled = clopt.compile(proto, device=device, strict_half=True)
    rng = np.random.default_rng(0)
    for _ in range(3):
        feeds = {
            port.name: rng.uniform(0, 1, port.shape).astype(np.float16) for port in compiled.inputs
        }
        (got,), (wanted,) = compiled.run(feeds), ReferenceEvaluator(proto).run(None, feeds)
        # A function such as exp may differ in its last bit from numpy's.
        assert np.count_nonzero(got != wanted) <= wanted.size // 100
        np.testing.assert_allclose(got, wanted, rtol=2e-3)


def test_networks_of_floats_stay() -> None:
    proto = model("float[4,8] x, float[8,8] w", "m = MatMul(x, w) e = Exp(m) y = Softmax(e)")
    plain, strict = (
        clopt.compile(proto, target="pocl", strict_half=strict) for strict in (False, True)
    )
    assert strict.source == plain.source


def test_precision_is_for_networks_of_floats() -> None:
    with pytest.raises(CloptError, match="strict_half is for f16 networks, and precision for f32"):
        clopt.compile(chain("y = Add(a, b)"), target="pocl", precision="f16", strict_half=True)
