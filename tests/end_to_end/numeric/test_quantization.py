"""Quantisation and its inverse, per tensor and per channel, and both ways to round."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from onnx import TensorProto, helper
from onnxruntime import InferenceSession

import clopt
from support.onnx.single_node import check, examples, generators, graph, shapes, values

TYPES = [np.int8, np.uint8, np.int16, np.uint16]


@pytest.mark.parametrize("dtype", TYPES)
@examples(2)
@given(rng=generators, shape=shapes(2, 4))
def test_round_trip(
    device: str, dtype: type, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    """Quotients at and beside ties and beyond the limits, which saturate."""
    axis = int(rng.integers(len(shape)))
    scale = rng.choice(np.array([0.25, 0.3, 1, 7], "f4"), shape[axis])
    step = scale.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    size = 2.0 ** (8 * np.dtype(dtype).itemsize)
    x = (np.round(rng.uniform(-size, size, shape)) / 2 * step).astype("f4")
    zero_point = values(rng, scale.shape, dtype, 0, 100)
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=axis),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"], axis=axis),
        helper.make_node("Identity", ["q"], ["copy"]),
    ]
    case = graph(nodes, {"x": x, "s": scale, "z": zero_point}, (1, 2), opset=21)
    check(case, device, 0)


MODULE = """
func.func @main(%x: tensor<{n}xf32>) -> tensor<{n}xi8> {{
  %s = nn.constant dense<{scale}> : tensor<f32>
  %z = nn.constant dense<0> : tensor<i8>
  %y = nn.quantize half_up %x, %s, %z : (tensor<{n}xf32>, tensor<f32>, tensor<i8>) -> tensor<{n}xi8>
  func.return %y : tensor<{n}xi8>
}}
"""


@pytest.mark.parametrize("shift", [0, 3])
def test_half_up_is_a_shift(device: str, tmp_path: Path, shift: int) -> None:
    """Of integers, by a power of two: half a step is added, and the bits below it drop."""
    n = np.append(np.arange(-1200, 1200), [2**23 - 1, -(2**23), 7])
    path = tmp_path / "module.mlir"
    path.write_text(MODULE.format(n=n.size, scale=float(2**shift)))
    (y,) = clopt.compile(path, device=device).run([n.astype("f4")])
    expected = np.clip((n + (1 << shift >> 1)) >> shift, -128, 127)
    np.testing.assert_array_equal(y, expected)


def test_half_up_below_half(device: str, tmp_path: Path) -> None:
    """The float below a half goes down, though its sum with a half rounds to one."""
    half = np.array([0.5, -0.5], "f4")
    x = np.concatenate([half, np.nextafter(half, np.float32(-1))])
    path = tmp_path / "module.mlir"
    path.write_text(MODULE.format(n=x.size, scale=1.0))
    (y,) = clopt.compile(path, device=device).run([x])
    np.testing.assert_array_equal(y, [1, 0, 0, -1])


def test_dynamic_scale_of_zeros_is_one(device: str) -> None:
    """As by onnxruntime; a range of another sign than 0 includes 0."""
    nodes, names = [], ("zeros", "positive", "negative", "both")
    arrays = [[0, 0, 0, 0], [1, 2, 3, 4], [-1, -2, -3, -4.5], [-1, 0.3, 2, 7]]
    inputs = {n: np.array(a, np.float32) for n, a in zip(names, arrays, strict=True)}
    outputs = [f"{kind}_{name}" for name in names for kind in "ysz"]
    for i, name in enumerate(names):
        results = outputs[3 * i : 3 * i + 3]
        nodes.append(helper.make_node("DynamicQuantizeLinear", [name], results))
    model = helper.make_model(
        helper.make_graph(
            nodes,
            "dynamic",
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4]) for n in names],
            [
                helper.make_tensor_value_info(
                    n, TensorProto.FLOAT if n[0] == "s" else TensorProto.UINT8, None
                )
                for n in outputs
            ],
        ),
        opset_imports=[helper.make_opsetid("", 13)],
        ir_version=8,
    )
    expected = InferenceSession(model.SerializeToString()).run(None, inputs)
    found = clopt.compile(model, device=device).run(inputs)
    for name, y, reference in zip(outputs, found, expected, strict=True):
        np.testing.assert_array_equal(y, reference, err_msg=name)
