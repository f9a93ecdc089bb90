"""Networks store or compute halves as asked, or the compiler says that they cannot."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.parser import Parser

import clopt
from clopt.context import CloptContext
from clopt.dialects.cl import set_target
from clopt.errors import CloptError
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.targets import load_target

rng = np.random.default_rng(7)
X = rng.standard_normal((1, 8, 9, 9)).astype(np.float32)


def _conv_model(weight: np.ndarray) -> onnx.ModelProto:
    """conv 3x3 and relu over X."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["y"], name="relu"),
    ]
    graph = helper.make_graph(
        nodes,
        "half",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weight.astype(np.float32), "w")],
    )
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=9)


def _exact(weight: np.ndarray, half: bool = True) -> np.ndarray:
    """The same in double, of operands rounded to half."""
    x, w = (a.astype(np.float16 if half else np.float32).astype(float) for a in (X, weight))
    padded = np.pad(x[0], ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    return np.maximum(np.einsum("chwij,ocij->ohw", windows, w), 0)[None]


W = rng.standard_normal((8, 8, 3, 3)) / 9


def test_storage_computes_in_float(device: str) -> None:
    compiled = clopt.compile(_conv_model(W), device=device, precision="f16-storage")
    (y,) = compiled.run([X])
    assert [t.dtype for t in (*compiled.inputs, *compiled.outputs)] == [np.dtype(np.float32)] * 2
    # Operands are rounded once; nothing behind them is.
    assert np.abs(y - _exact(W)).max() < 1e-6 * np.abs(y).max()
    assert compiled.remarks == ()


def test_half_sums_where_the_device_can(device: str) -> None:
    compiled = clopt.compile(_conv_model(W), device=device, precision="f16")
    (y,) = compiled.run([X])
    error = np.abs(y - _exact(W)).max() / np.abs(y).max()
    if "cl_khr_fp16" in compiled.executable.device.handle.extensions.split():
        assert compiled.source.startswith("#pragma OPENCL EXTENSION cl_khr_fp16 : enable")
        assert 1e-5 < error < 1e-2
        assert compiled.remarks == ()
    else:
        assert "cl_khr_fp16" not in compiled.source
        assert error < 1e-6
        (remark,) = compiled.remarks
        assert "has no half arithmetic: f16 is computed in float" in remark


def test_large_weights_stay(device: str) -> None:
    large = W.copy()
    large[3, 2, 1, 0] = 7e4
    compiled = clopt.compile(_conv_model(large), device=device, precision="f16-storage")
    (y,) = compiled.run([X])
    assert compiled.remarks == (
        "conv stays in f32: a constant reaches 7e+04, which is beyond the range of half.",
    )
    assert np.abs(y - _exact(large, half=False)).max() < 1e-6 * np.abs(y).max()


def test_unknown_precision() -> None:
    with pytest.raises(CloptError, match='one of f32, f16-storage, f16, not "f8"'):
        clopt.compile(_conv_model(W), target="pocl", precision="f8")


def test_sum_of_halves_needs_half_arithmetic() -> None:
    text = """
    func.func @main(%x: tensor<2x2xf16>) -> tensor<2x2xf16> {
      %y = nn.fused %x : (tensor<2x2xf16>) -> tensor<2x2xf16> {
      ^bb0(%a: tensor<2x2xf16>):
        %z = "nn.matmul"(%a, %a) <{accumulate = f16}>
          : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
        nn.yield %z : tensor<2x2xf16>
      }
      func.return %y : tensor<2x2xf16>
    }
    """
    ctx = CloptContext()
    module = Parser(ctx, text).parse_module()
    set_target(module, load_target("pocl"))
    NNToCLPass().apply(ctx, module)
    with pytest.raises(CloptError, match=r"nn.matmul: accumulate = f16 needs half arithmetic"):
        NNToTIRPass().apply(ctx, module)
