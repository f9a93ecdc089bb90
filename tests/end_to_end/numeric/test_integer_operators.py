"""QLinearConv, QLinearMatMul, ConvInteger and MatMulInteger run on products of bytes, beside
onnxruntime: sums are exact, quantised results at most one step apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, checker, parser
from onnx import numpy_helper as arrays
from onnxruntime import InferenceSession

import clopt

Array = np.ndarray[Any, np.dtype[Any]]
_TARGETS: dict[str, dict[str, Any]] = {
    "blocks": {
        "vector_width": 16,
        "vector_registers": 32,
        "dot_product": "plain",
        "blocks": "prefer",
    },
    "words": {"target": "nvidia dot_product=plain compute_units=4 launch_microseconds=0"},
    "floats": {"dot_product": "off"},
}
_HEAD = '<ir_version: 8, opset_import: ["" : 13]> g ({inputs}) => ({results}) {{ {nodes} }}'

_RNG = np.random.default_rng(0)
# Seven bits: on processors with AVX2 alone, onnxruntime adds two products of bytes in 16 bits,
# which saturates with larger weights. `test_integer_products.py` has weights of eight bits.
_W = _RNG.integers(-64, 64, (32, 16, 3, 3)).astype("i1")
_B = _RNG.integers(-64, 64, (32, 48)).astype("i1")
_SCALES = _RNG.uniform(1e-3, 1e-2, 32).astype("f4")
_COMMON: dict[str, Any] = {"s": np.float32(0.02), "z": np.uint8(7), "zi": np.int8(-5)}
_CONV: dict[str, Any] = {
    "w": _W,
    "t": _SCALES,
    "zw": np.zeros(32, "i1"),
    "b": _RNG.integers(-9999, 9999, 32).astype("i4"),
    "r": np.float32(0.25),
}
_MATRIX: dict[str, Any] = {"w": _B, "t": np.float32(0.01), "zw": np.int8(0), "r": np.float32(0.25)}

CASES: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "conv": (
        "uint8[1,16,6,7] x",
        "uint8[n,o,h,w] y",
        "y = QLinearConv<pads=[1,1,1,1]>(x, s, z, w, t, zw, r, z, b)",
        _CONV,
    ),
    "conv of signed numbers": (
        "int8[1,16,6,7] x",
        "int8[n,o,h,w] y",
        "y = QLinearConv<strides=[2,2]>(x, s, zi, w, t, zw, r, zi)",
        _CONV,
    ),
    "conv by unsigned weights": (
        "uint8[1,16,6,7] x",
        "uint8[n,o,h,w] y",
        "y = QLinearConv<pads=[1,1,1,1]>(x, s, z, w, t, zw, r, z)",
        {**_CONV, "w": (_W + np.int16(128)).astype("u1"), "t": _SCALES[0], "zw": np.uint8(128)},
    ),
    "conv in groups": (
        "uint8[1,32,6,7] x",
        "uint8[n,o,h,w] y",
        "y = QLinearConv<group=2, pads=[1,1,1,1]>(x, s, z, w, t, zw, r, z, b)",
        _CONV,
    ),
    "matmul": (
        "uint8[2,5,32] x",
        "uint8[a,b,c] y",
        "y = QLinearMatMul(x, s, z, w, t, zw, r, z)",
        _MATRIX,
    ),
    "matmul of two inputs": (
        "uint8[2,5,32] x, uint8[2,32,8] v",
        "uint8[a,b,c] y",
        "y = QLinearMatMul(x, s, z, v, s, z, r, z)",
        {"r": np.float32(1)},
    ),
    "sums of a conv": (
        "uint8[1,16,6,7] x",
        "int32[n,o,h,w] y",
        "y = ConvInteger<pads=[1,1,1,1]>(x, w, z, zw)",
        {"w": (_W + np.int16(128)).astype("u1"), "zw": np.uint8(128)},
    ),
    "sums of a matmul": (
        "uint8[2,5,32] x",
        "int32[a,b,c] y",
        "y = MatMulInteger(x, w, z)",
        {"w": _B},
    ),
    "sums by a zero point of the run": (
        "float[5,32] x",
        "float[a,b] y",
        "q, step, zero = DynamicQuantizeLinear(x) sums = MatMulInteger(q, w, zero) "
        "f = Cast<to=1>(sums) y = Mul(f, step)",
        {"w": _B},
    ),
    "integers less equal ones of a wider shape": (
        "uint8[1,2,32] x",
        "int32[a,b,c] y",
        "q = Cast<to=6>(x) d = Sub(q, k) y = MatMul(d, w)",
        {"w": _B.astype("i4"), "k": np.full((3, 2, 32), 7, "i4")},
    ),
}
_NO_BYTES = (
    "conv in groups",
    "matmul of two inputs",
    "integers less equal ones of a wider shape",
)
"""Narrow groups and products without constants multiply single bytes, or floats."""


def _model(name: str) -> ModelProto:
    inputs, results, nodes, constants = CASES[name]
    model = parser.parse_model(_HEAD.format(inputs=inputs, results=results, nodes=nodes))
    for key, value in {**_COMMON, **constants}.items():
        if any(key in node.input for node in model.graph.node):
            model.graph.initializer.append(arrays.from_array(np.asarray(value), key))
    checker.check_model(model)
    return model


def _inputs(session: InferenceSession) -> list[Array]:
    rng = np.random.default_rng(1)
    kinds = {"tensor(uint8)": (0, 256, "u1"), "tensor(int8)": (-128, 128, "i1")}
    return [
        rng.integers(*kinds[port.type][:2], port.shape).astype(kinds[port.type][2])
        if port.type in kinds
        else rng.standard_normal(port.shape).astype("f4")
        for port in session.get_inputs()
    ]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.by_default(cases=1)
@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
def test_results_are_those_of_onnxruntime(device: str, name: str) -> None:
    model = _model(name).SerializeToString()
    session = InferenceSession(model, providers=["CPUExecutionProvider"])
    inputs = _inputs(session)
    (expected,) = session.run(
        None, dict(zip([p.name for p in session.get_inputs()], inputs, strict=True))
    )
    assert len(np.unique(expected)) > 50, "the case has numbers of its own"
    for form, facts in _TARGETS.items():
        compiled = clopt.compile(model, device=device, use_cache=False, **facts)
        (y,) = compiled.run(inputs)
        assert y.shape == expected.shape, form
        if expected.dtype == np.float32:
            np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-4)
        else:
            apart = np.abs(y.astype("i8") - expected.astype("i8")).max()
            assert apart <= (expected.dtype != np.int32), form
        has_bytes = form != "floats" and name not in _NO_BYTES
        assert ("dot_bytes" in compiled.source) is has_bytes, form
