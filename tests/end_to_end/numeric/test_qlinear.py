"""Operators that onnxruntime's quantiser writes (QOperator) give its results, a step apart at most;
whole models in this format are what they are in the format QDQ.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser
from onnxruntime import InferenceSession
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_static,
)

import clopt

_RNG = np.random.default_rng(3)
_CONSTANTS: dict[str, Any] = {
    "s": np.float32(0.05),
    "t": np.float32(0.04),
    "r": np.float32(0.11),
    "p": np.float32(1 / 256),
    "z": np.uint8(120),
    "v": np.uint8(7),
    "o": np.uint8(0),
    # Seven bits: on processors with AVX2 alone, onnxruntime adds two products of bytes in 16 bits,
    # which saturates with larger weights.
    "w": _RNG.integers(-64, 64, (6, 9)).astype("i1"),
    "ws": np.float32(0.02),
    "wc": _RNG.uniform(0.01, 0.03, 6).astype("f4"),
    "wz": np.int8(3),
    "wcz": np.zeros(6, "i1"),
    "b": _RNG.integers(-2000, 2000, 6).astype("i4"),
    "g": np.float32(0.4),
}
IMAGE, MATRIX = "uint8[2,3,5,7] x, uint8[2,3,5,7] y", "uint8[4,9] x"
CASES = {
    "add": (IMAGE, "QLinearAdd(x, s, z, y, t, v, r, z)"),
    "add of a vector": ("uint8[4,9] x, uint8[9] y", "QLinearAdd(x, s, z, y, t, v, r, z)"),
    "mul": (IMAGE, "QLinearMul(x, s, z, y, t, v, r, z)"),
    "sigmoid": (IMAGE, "QLinearSigmoid(x, s, z, p, o)"),
    "leaky relu": (IMAGE, "QLinearLeakyRelu<alpha=0.2>(x, s, z, t, v)"),
    "concat": (IMAGE, "QLinearConcat<axis=1>(r, z, x, s, z, y, t, v)"),
    "softmax": (IMAGE, "QLinearSoftmax<axis=-1, opset=13>(x, s, z, p, o)"),
    "softmax of opset 12": (IMAGE, "QLinearSoftmax<axis=2, opset=12>(x, s, z, p, o)"),
    "global average": (IMAGE, "QLinearGlobalAveragePool(x, s, z, t, z)"),
    "global average, channels last": (
        IMAGE,
        "QLinearGlobalAveragePool<channels_last=1>(x, s, z, t, z)",
    ),
    "average": (
        IMAGE,
        "QLinearAveragePool<kernel_shape=[3,2], strides=[2,1], pads=[1,0,1,1]>(x, s, z, t, z)",
    ),
    "gemm": (MATRIX, "QGemm<transB=1>(x, s, z, w, wc, wcz, b, g, z)"),
    "gemm, scaled": (MATRIX, "QGemm<transB=1, alpha=0.5>(x, s, z, w, ws, wz, b, g, z)"),
    "gemm to floats": (MATRIX, "QGemm<transB=1>(x, s, z, w, ws, wz, b)"),
}


def _model(names: list[str]) -> onnx.ModelProto:
    """A model of these cases, each with inputs of its own."""
    nodes, inputs, outputs, used = [], [], [], set[str]()
    for name in names:
        shapes, text = CASES[name]
        node = parser.parse_node(f"result = com.microsoft.{text}")
        node.output[0] = name
        for shape, key in re.findall(r"uint8\[([\d,]+)\] (\w)", shapes):
            sizes = [int(size) for size in shape.split(",")]
            own = f"{key} of {name}"
            if key in node.input:
                inputs.append(helper.make_tensor_value_info(own, TensorProto.UINT8, sizes))
            node.input[:] = [own if given == key else given for given in node.input]
        used.update(node.input)
        kind = TensorProto.FLOAT if name.endswith("floats") else TensorProto.UINT8
        outputs.append(helper.make_tensor_value_info(name, kind, None))
        nodes.append(node)
    constants = [
        numpy_helper.from_array(np.asarray(value), key)
        for key, value in _CONSTANTS.items()
        if key in used
    ]
    graph = helper.make_graph(nodes, "cases", inputs, outputs, constants)
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
def test_results_are_those_of_onnxruntime(device: str) -> None:
    names = [*CASES]
    model = _model(names).SerializeToString()
    session = InferenceSession(model, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(1)
    inputs = {p.name: rng.integers(0, 256, p.shape).astype("u1") for p in session.get_inputs()}
    expected = session.run(None, inputs)
    found = clopt.compile(model, device=device).run(inputs)
    for name, y, reference in zip(names, found, expected, strict=True):
        assert y.dtype == reference.dtype, name
        assert y.shape == reference.shape, name
        assert len(np.unique(reference)) > 3, name
        if reference.dtype == np.float32:
            np.testing.assert_allclose(y, reference, rtol=1e-5, atol=1e-4, err_msg=name)
        else:
            assert np.abs(y.astype("i4") - reference.astype("i4")).max() <= 1, name


def test_zero_points_may_be_absent() -> None:
    """onnxruntime 1.32 ends with a segmentation fault for these."""
    texts = ["QLinearSigmoid(x, s, o, p, o)", "QLinearSigmoid(x, s, , p)"]
    sources = [_source(text) for text in texts]
    assert sources[0] == sources[1]


def _source(text: str) -> str:
    model = _model(["sigmoid"])
    model.graph.node[0].input[:] = parser.parse_node(f"y = com.microsoft.{text}").input
    model.graph.node[0].input[0] = "x of sigmoid"
    return clopt.compile(model, target="pocl").source


class _Samples(CalibrationDataReader):
    def __init__(self, samples: list[dict[str, np.ndarray]]) -> None:
        self._rest = iter(samples)

    def get_next(self) -> dict[str, np.ndarray] | None:  # type: ignore[override]
        return next(self._rest, None)


NETWORK = """<ir_version: 8, opset_import: ["" : 13]>
g (float[1,3,12,12] x) => (float[1,5] y) {
    a = Conv<pads=[1,1,1,1]>(x, w0, b0)
    l = LeakyRelu<alpha=0.1>(a)
    c = Conv<pads=[1,1,1,1]>(l, w1)
    s = Add(l, c)
    g1 = Sigmoid(s)
    m = Mul(s, g1)
    k = Concat<axis=1>(m, l)
    p = AveragePool<kernel_shape=[2,2], strides=[2,2]>(k)
    h = GlobalAveragePool(p)
    f = Flatten(h)
    e = Gemm<transB=1>(f, w2, b2)
    y = Softmax<axis=1>(e)
}"""


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
def test_formats_of_one_model_become_the_same_kernels(tmp_path: Path, device: str) -> None:
    model, rng = parser.parse_model(NETWORK), np.random.default_rng(0)
    shapes = {"w0": (16, 3, 3, 3), "b0": (16,), "w1": (16, 16, 3, 3), "w2": (5, 32), "b2": (5,)}
    for name, shape in shapes.items():
        array = (rng.standard_normal(shape) / 3).astype("f4")
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    samples = [{"x": rng.standard_normal((1, 3, 12, 12)).astype("f4")} for _ in range(4)]
    onnx.save(model, tmp_path / "float.onnx")
    found, sources = [], []
    for kind in (QuantFormat.QOperator, QuantFormat.QDQ):
        path = tmp_path / f"{kind.name}.onnx"
        quantize_static(
            tmp_path / "float.onnx",
            path,
            _Samples(samples),
            quant_format=kind,
            activation_type=QuantType.QUInt8,
        )
        compiled = clopt.compile(path, device=device)
        sources.append(compiled.source.count("__kernel"))
        found.append(compiled.run(samples[0])[0])
    written = {node.op_type for node in onnx.load(tmp_path / "QOperator.onnx").graph.node}
    assert {"QLinearAdd", "QLinearConcat", "QGemm", "QLinearSoftmax"} <= written
    (expected,) = InferenceSession(
        tmp_path / "QOperator.onnx", providers=["CPUExecutionProvider"]
    ).run(None, samples[0])
    np.testing.assert_allclose(found[0], expected, atol=1.5 / 256)
    np.testing.assert_allclose(found[0], found[1], atol=1.5 / 256)
    assert sources[0] == sources[1]
