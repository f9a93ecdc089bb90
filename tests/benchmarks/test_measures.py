"""The benchmarks count and compare correctly, on inputs small enough to count by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from compare import relative_error
from compile_scaling import chain, exponents
from kernels import float_operations
from models import sample_inputs
from onnx import TensorProto, helper
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects import tir

KERNEL = """
tir.func @k(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = array<i64: 1>} {
  %c = arith.constant 2.0 : f32
  tir.for global_x %i = 0 to 4 {
    tir.for serial %j = 0 to 3 {
      %v = memref.load %x[%i] : memref<8xf32>
      %a = arith.mulf %v, %c : f32
      %b = arith.addf %a, %v : f32
      memref.store %b, %y[%i] : memref<8xf32>
    }
  }
}
"""


def test_float_operations_multiply_with_loops() -> None:
    module = Parser(CloptContext(), KERNEL).parse_module()
    function = module.body.block.first_op
    assert isinstance(function, tir.FuncOp)
    assert float_operations(function.body.block) == 4 * 3 * 2


def test_error_is_relative_to_the_largest_value() -> None:
    expected = [np.array([0.0, 10.0], np.float32), np.array([1.0], np.float32)]
    assert relative_error(expected, expected) == 0
    worse = [expected[0] + np.float32(0.5), expected[1]]
    assert relative_error(worse, expected) == pytest.approx(0.05)
    assert relative_error([expected[0][:1], expected[1]], expected) == float("inf")


def test_every_text_of_a_batch_has_the_mask(tmp_path: Path) -> None:
    ports = [helper.make_tensor_value_info(k, TensorProto.INT64, [2, 4]) for k in ("mask", "y")]
    node = helper.make_node("Identity", ["mask"], ["y"])
    path = tmp_path / "text.onnx"
    onnx.save(helper.make_model(helper.make_graph([node], "g", ports[:1], ports[1:])), path)
    assert sample_inputs(path)["mask"].tolist() == [[1, 1, 1, 0], [1, 1, 1, 0]]


def test_growth_of_a_quadratic_step() -> None:
    runs = {"10": {"step": 0.1}, "100": {"step": 1.0}, "1000": {"step": 100.0}}
    assert exponents(runs, [10, 100, 1000])["step"] == pytest.approx(2)


def test_chain_has_its_own_weights() -> None:
    model = chain(6, 3)
    assert [node.op_type for node in model.graph.node] == ["Conv", "Relu"] * 6
    assert len({tensor.raw_data for tensor in model.graph.initializer}) == 6
