"""Products of dequantised values, computed in integers: exact beside numpy, and one step beside
onnxruntime in floats.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper
from onnx import numpy_helper as arrays
from onnxruntime import InferenceSession, SessionOptions

import clopt
from clopt.dialects.cl import target_of

Array = np.ndarray[Any, np.dtype[Any]]
_WIDE: dict[str, Any] = {
    "vector_width": 16,
    "vector_registers": 32,
    "dot_product": "plain",
    "blocks": "prefer",
}
"""The schedules of processors with products of bytes, in arithmetic that all devices have."""

_TEXELS = "nvidia dot_product=plain compute_units=4 launch_microseconds=0"
"""The same of a GPU that keeps four bytes of channels in a word."""

_PRODUCT = """
func.func @main(%x: tensor<{m}x{k}xui8>) -> tensor<{m}x{n}xi32> {{
  %w = nn.constant dense<{w}> : tensor<{k}x{n}xi8>
  %y = nn.matmul %x, %w : (tensor<{m}x{k}xui8>, tensor<{k}x{n}xi8>) -> tensor<{m}x{n}xi32>
  func.return %y : tensor<{m}x{n}xi32>
}}
"""


@pytest.mark.parametrize("shape", [(7, 64, 32), (1, 20, 48), (5, 13, 16), (3, 8, 21)])
def test_products_are_exact(device: str, tmp_path: Path, shape: tuple[int, int, int]) -> None:
    """Also of the largest numbers, and where no four terms or no 16 columns are whole."""
    m, k, n = shape
    rng = np.random.default_rng(k)
    x = rng.integers(0, 256, (m, k)).astype("u1")
    w = rng.integers(-128, 128, (k, n)).astype("i1")
    x[0], w[:, 0], w[:, 1] = 255, -128, 127
    path = tmp_path / "module.mlir"
    path.write_text(_PRODUCT.format(m=m, k=k, n=n, w=w.tolist()))
    (y,) = clopt.compile(path, device=device, use_cache=False, **_WIDE).run([x])
    np.testing.assert_array_equal(y, x.astype("i4") @ w.astype("i4"))


@pytest.mark.parametrize("shape", [(7, 64, 32), (1, 32, 48), (3, 20, 8), (3, 8, 21), (2, 7, 8)])
def test_products_of_words_are_exact(
    device: str, tmp_path: Path, shape: tuple[int, int, int]
) -> None:
    m, k, n = shape
    rng = np.random.default_rng(k)
    x = rng.integers(0, 256, (m, k)).astype("u1")
    w = rng.integers(-128, 128, (k, n)).astype("i1")
    x[0], w[:, 0], w[:, 1] = 255, -128, 127
    path = tmp_path / "module.mlir"
    path.write_text(_PRODUCT.format(m=m, k=k, n=n, w=w.tolist()))
    (y,) = clopt.compile(path, target=_TEXELS, device=device, use_cache=False).run([x])
    np.testing.assert_array_equal(y, x.astype("i4") @ w.astype("i4"))


def _network(rng: np.random.Generator, shape: tuple[int, ...], **form: Any) -> ModelProto:
    """A quantised convolution in QDQ form: onnxruntime's own for `pads`, `groups`, `zero`..."""
    n, c, height, width, o, k = shape
    groups, scales = form["group"], rng.uniform(1e-3, 1e-2, o).astype("f4")
    w = rng.integers(-128, 128, (o, c // groups, k, k)).astype("i1")
    spread = 0.02 * 0.005 * 20 * np.sqrt(c // groups) * k
    constants = {
        "w": w,
        "ws": scales,
        "wz": np.zeros(o, "i1"),
        "xs": np.float32(0.02),
        "xz": form["zero"],
        "b": rng.standard_normal(o).astype("f4"),
        "ys": np.float32(spread),
        "yz": np.uint8(3),
    }
    window = {"kernel_shape": [k, k], "pads": [form["pad"]] * 4, "group": groups}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["xf"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"], axis=0),
        helper.make_node("Conv", ["xf", "wf", "b"], ["c"], strides=[form["stride"]] * 2, **window),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("QuantizeLinear", ["r", "ys", "yz"], ["y"]),
    ]
    given = helper.make_tensor_value_info(
        "x", helper.np_dtype_to_tensor_dtype(form["zero"].dtype), [n, c, height, width]
    )
    result = helper.make_tensor_value_info("y", TensorProto.UINT8, "nohw")
    initializers = [arrays.from_array(np.asarray(v), name) for name, v in constants.items()]
    graph = helper.make_graph(nodes, "conv", [given], [result], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


CONVOLUTIONS = {
    "padded": ((1, 32, 6, 9, 48, 3), {}),
    "padded by a zero point": ((1, 32, 6, 7, 32, 3), {"zero": np.uint8(7)}),
    "signed": ((1, 16, 6, 7, 16, 3), {"zero": np.int8(-128)}),
    "points": ((2, 32, 5, 5, 32, 1), {"pad": 0, "zero": np.uint8(130)}),
    "depthwise": ((1, 32, 6, 7, 32, 3), {"group": 32, "zero": np.uint8(9)}),
    "groups": ((1, 32, 6, 7, 32, 3), {"group": 2}),
    "stem": ((1, 3, 9, 9, 32, 3), {"stride": 2, "zero": np.uint8(5)}),
    "points, padded": ((1, 24, 8, 8, 32, 1), {"pad": 1, "zero": np.uint8(3)}),
    "ragged": ((1, 20, 6, 7, 40, 3), {"stride": 2}),
}


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions(device: str, name: str) -> None:
    """Within one step of onnxruntime, node by node in floats."""
    shape, form = CONVOLUTIONS[name]
    form = {"pad": 1, "stride": 1, "group": 1, "zero": np.uint8(0), **form}
    rng = np.random.default_rng(len(name))
    model = _network(rng, shape, **form).SerializeToString()
    limits = np.iinfo(form["zero"].dtype)
    x = rng.integers(limits.min, limits.max + 1, shape[:4]).astype(form["zero"].dtype)
    expected = _onnxruntime(model, x)
    compiled = clopt.compile(model, device=device, use_cache=False, **_WIDE)
    (y,) = compiled.run([x])
    assert len(np.unique(expected)) > 50, "the case has numbers of its own"
    assert np.abs(y.astype("i4") - expected).max() <= 1
    if target_of(compiled.module).device.device_type == "cpu":
        assert ("dot_bytes16(" in compiled.source) is (name in _IN_QUADS)


_IN_QUADS = ("padded", "padded by a zero point", "signed", "points, padded")


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_of_words(device: str, name: str) -> None:
    """The same on a GPU; a depthwise one and groups multiply single bytes."""
    shape, form = CONVOLUTIONS[name]
    form = {"pad": 1, "stride": 1, "group": 1, "zero": np.uint8(0), **form}
    rng = np.random.default_rng(len(name))
    model = _network(rng, shape, **form).SerializeToString()
    limits = np.iinfo(form["zero"].dtype)
    x = rng.integers(limits.min, limits.max + 1, shape[:4]).astype(form["zero"].dtype)
    expected = _onnxruntime(model, x)
    compiled = clopt.compile(model, target=_TEXELS, device=device, use_cache=False)
    (y,) = compiled.run([x])
    assert np.abs(y.astype("i4") - expected).max() <= 1
    assert ("dot_bytes4(" in compiled.source) is (form["group"] == 1)


_LAYERS = ((48, 16, 1), (48, 1, 3), (24, 48, 1), (48, 24, 1))
"""An inverted residual, and what follows it: filters, the channels of each, and its window."""


def _chain(rng: np.random.Generator) -> ModelProto:
    """Quantised convolutions one after another; channels of 24 fill no whole number of blocks."""
    constants: dict[str, Any] = {"s": np.float32(0.02), "z": np.uint8(5), "wz": np.int8(0)}
    nodes = [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["f0"])]
    for i, (o, c, k) in enumerate(_LAYERS):
        constants[f"w{i}"] = rng.integers(-128, 128, (o, c, k, k)).astype("i1")
        constants[f"ws{i}"] = np.float32(0.02 / np.sqrt(c * k * k))
        constants[f"b{i}"] = rng.uniform(0.5, 2, o).astype("f4")
        nodes += [
            helper.make_node("DequantizeLinear", [f"w{i}", f"ws{i}", "wz"], [f"v{i}"]),
            helper.make_node(
                "Conv",
                [f"f{i}", f"v{i}", f"b{i}"],
                [f"c{i}"],
                kernel_shape=[k, k],
                pads=[k // 2] * 4,
                group=o if c == 1 else 1,
            ),
            helper.make_node("QuantizeLinear", [f"c{i}", "s", "z"], [f"q{i}"]),
            helper.make_node("DequantizeLinear", [f"q{i}", "s", "z"], [f"f{i + 1}"]),
        ]
    given = helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 16, 9, 10])
    result = helper.make_tensor_value_info(f"q{len(_LAYERS) - 1}", TensorProto.UINT8, "nohw")
    initializers = [arrays.from_array(np.asarray(v), name) for name, v in constants.items()]
    graph = helper.make_graph(nodes, "chain", [given], [result], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_points_between_blocks(device: str) -> None:
    """Those to and from channels that leave a tail multiply bytes; the first reads plain values."""
    rng = np.random.default_rng(1)
    model = _chain(rng).SerializeToString()
    x = rng.integers(0, 256, (1, 16, 9, 10)).astype("u1")
    expected = _onnxruntime(model, x)
    compiled = clopt.compile(model, device=device, use_cache=False, **_WIDE)
    (y,) = compiled.run([x])
    assert len(np.unique(expected)) > 50, "the case has numbers of its own"
    assert np.abs(y.astype("i4") - expected).max() <= 1
    kernels = compiled.source.split("__kernel")[1:]
    if target_of(compiled.module).device.device_type == "cpu":
        assert sum("dot_bytes16(" in kernel for kernel in kernels) == 2


def test_words_between_kernels(device: str) -> None:
    """All but the depthwise convolution read four channels at once, and write them so."""
    rng = np.random.default_rng(1)
    model = _chain(rng).SerializeToString()
    x = rng.integers(0, 256, (1, 16, 9, 10)).astype("u1")
    expected = _onnxruntime(model, x)
    compiled = clopt.compile(model, target=_TEXELS, device=device, use_cache=False)
    (y,) = compiled.run([x])
    assert np.abs(y.astype("i4") - expected).max() <= 1
    kernels = compiled.source.split("__kernel")[1:]
    assert sum("dot_bytes4(" in kernel for kernel in kernels) == 3
    assert "image2d" not in compiled.source


@pytest.mark.parametrize(
    "target", ["adreno-740 texture=prefer fp16=false", "nvidia dot_product=off"]
)
def test_floats_between_kernels(device: str, target: str) -> None:
    """Without products of bytes, convolutions of floats clamp and round, and divide by no step."""
    rng = np.random.default_rng(1)
    model = _chain(rng).SerializeToString()
    x = rng.integers(0, 256, (1, 16, 9, 10)).astype("u1")
    expected = _onnxruntime(model, x)
    compiled = clopt.compile(model, target=target, device=device, use_cache=False)
    (y,) = compiled.run([x])
    assert np.abs(y.astype("i4") - expected).max() <= 1
    assert "dot_bytes" not in compiled.source
    assert "rounded_divide" not in compiled.source


def _onnxruntime(model: bytes, x: Array) -> Array:
    options = SessionOptions()
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    session = InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]
