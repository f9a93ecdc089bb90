"""An operation that clopt does not know works in every pipeline, by what this file says of it.

It is a class, its lowering and its row for ONNX, and nothing in the tree names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.test_value import create_ssa_value

import clopt
from clopt.context import CloptContext
from clopt.dialects import nn
from clopt.dialects.nn.evaluation import interpret
from clopt.frontends.onnx import import_onnx
from clopt.frontends.onnx.node import NodeContext
from clopt.frontends.onnx.operators import tables
from clopt.passes.nn.fold_constants import NNFoldConstantsPass
from clopt.passes.nn.layout.access import operand_accesses
from clopt.passes.nn.lowering import KernelBuilder, LoweredBy
from clopt.passes.nn.lowering.body import Body, Index
from clopt.passes.nn.lowering.kernel import Accumulator
from clopt.passes.nn.lowering.scalar import ScalarValue
from support.c.compilers import infer, link
from support.c.compilers import runtime as runtime
from support.onnx.on_devices import TARGET

pytestmark = pytest.mark.in_turns


def lower_contrast(kernel: KernelBuilder, op: ContrastOp) -> None:
    """`y[n, c, p] = sum over k of |x[n, c, p + k - pad] - x[n, c, p]| w[c, k]`, x 0 outside."""
    x_shape, (_, *size) = nn.shape_of(op.x), nn.shape_of(op.w)

    def update(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], sums: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        n, c, *position = index
        taps = [p + k - n // 2 for p, k, n in zip(position, reduce, size, strict=True)]
        centre = body.read(op.x, index)
        tap = body.read_or(op.x, [n, c, *taps], x_shape, 0)
        return [sums[0] + (tap - centre).call("abs") * body.read(op.w, [c, *reduce])]

    (element,) = kernel.reduction(
        "contrast",
        x_shape,
        size,
        [Accumulator(nn.tensor_type(op.x).element_type, 0)],
        update,
        ["n", "c", "h", "w", "kh", "kw"],
        (*kernel.written_extents(op.result), *size),
    )
    kernel.define(op.result, element)


@irdl_op_definition
class ContrastOp(nn.NNOp):
    """The weighted sum of how much the elements of a window differ from the one in its middle."""

    name = "demo.contrast"
    ROLE: ClassVar[nn.Role | None] = nn.Role.WINDOW
    HALF: ClassVar[nn.HalfRule] = nn.HalfRule.FOLLOWS
    BY_CHANNEL: ClassVar[bool] = True
    traits = traits_def(LoweredBy(lower_contrast))
    x = operand_def(TensorType)
    w = operand_def(TensorType)
    result = result_def(TensorType)
    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def __init__(self, x: SSAValue, w: SSAValue):
        super().__init__([x, w], {})

    @classmethod
    def infer(
        cls, operand_types: Sequence[nn.Tensor], properties: nn.Properties
    ) -> Sequence[nn.Tensor]:
        x, w = operand_types
        if len(x.get_shape()) != 4 or len(w.get_shape()) != 3:
            raise VerifyException("contrast takes an image [N, C, H, W] and weights [C, K, K]")
        if x.get_shape()[1] != w.get_shape()[0]:
            raise VerifyException("image and weights differ in their channels")
        return [x]

    def compute(self, operands: Sequence[nn.Array]) -> nn.Array:
        x, w = (operand.astype(np.float64) for operand in operands)
        rows, columns = w.shape[1:]
        padded = np.pad(x, [(0, 0), (0, 0), (rows // 2,) * 2, (columns // 2,) * 2])
        result = np.zeros_like(x)
        for i in range(rows):
            for j in range(columns):
                tap = padded[:, :, i : i + x.shape[2], j : j + x.shape[3]]
                result += np.abs(tap - x) * w[None, :, i, j, None, None]
        return result


DEMO = Dialect("demo", [ContrastOp], [])


def import_contrast(node: NodeContext) -> SSAValue:
    return node.add(ContrastOp(node.input(0), node.input(1)))


@pytest.fixture(autouse=True)
def row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row of the importer."""
    monkeypatch.setitem(tables(), "demo", {"Contrast": {1: import_contrast}})  # type: ignore[arg-type]


def network(channels: int = 6) -> onnx.ModelProto:
    """conv, relu, contrast, silu; then the sum of that and the relu through another conv."""
    rng = np.random.default_rng(1)
    weights = {
        "w": rng.standard_normal((channels, 3, 3, 3)) / 3,
        "k": rng.standard_normal((channels, 3, 3)),
        "v": rng.standard_normal((5, channels, 1, 1)),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1] * 4),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Contrast", ["r", "k"], ["d"], name="contrast", domain="demo"),
        helper.make_node("Sigmoid", ["d"], ["g"]),
        helper.make_node("Mul", ["d", "g"], ["s"]),
        helper.make_node("Add", ["s", "r"], ["a"]),
        helper.make_node("Conv", ["a", "v"], ["y"]),
    ]
    tensors = [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()]
    ports = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", (1, 3, 10, 12)), ("y", (1, 5, 10, 12)))
    ]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], tensors)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("demo", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


X = np.random.default_rng(2).standard_normal((1, 3, 10, 12)).astype(np.float32)


def expected(model: onnx.ModelProto) -> nn.Array:
    """The answer of numpy."""
    ctx = CloptContext()
    (function,) = (op for op in import_onnx(model, ctx.weights).ops if isinstance(op, FuncOp))
    (array,) = interpret(function, [X], ctx.weights)
    return array


def assert_near(got: nn.Array, want: nn.Array, tolerance: float) -> None:
    assert np.abs(got - want).max() <= tolerance * np.abs(want).max()


TEXT = """
func.func @main(%x: tensor<1x2x4x4xf32>, %w: tensor<2x3x3xf32>) -> tensor<1x2x4x4xf32> {
  %y = demo.contrast %x, %w : (tensor<1x2x4x4xf32>, tensor<2x3x3xf32>) -> tensor<1x2x4x4xf32>
  func.return %y : tensor<1x2x4x4xf32>
}
"""

CONSTANTS = """
func.func @main() -> (tensor<1x1x3x3xf32> {nn.name = "y"}) {
  %a = nn.constant dense<1.0> : tensor<1x1x3x3xf32>
  %w = nn.constant dense<1.0> : tensor<1x3x3xf32>
  %y = demo.contrast %a, %w : (tensor<1x1x3x3xf32>, tensor<1x3x3xf32>) -> tensor<1x1x3x3xf32>
  func.return %y : tensor<1x1x3x3xf32>
}
"""


def parsed(text: str) -> clopt.CompiledModel:
    ctx = CloptContext()
    ctx.register_dialect("demo", lambda: DEMO)
    module = Parser(ctx, text).parse_module()
    module.verify()
    return clopt.compile(module, "generic")


def test_text_compiles_though_no_operation_is_of_nn() -> None:
    assert "kernel void contrast_0" in parsed(TEXT).source


def test_layouts_know_its_accesses() -> None:
    """They follow from the lowering: four channels are neighbours in both operands."""
    types = [TensorType(f32, shape) for shape in ((1, 8, 4, 4), (8, 3, 3))]
    op = ContrastOp(*map(create_ssa_value, types))
    x, w = (operand_accesses([op], op.result, 1, 4)[value] for value in op.operands)
    assert (x.axis, x.guarded, x.reads) == (1, True, 2 * 8 * 16 * 9)
    assert (w.axis, w.guarded, w.reads) == (0, False, 8 * 16 * 9)


def test_its_rule_is_verified() -> None:
    with pytest.raises(VerifyException, match="differ in their channels"):
        parsed(TEXT.replace("2x3x3", "3x3x3"))


def test_constants_are_folded() -> None:
    ctx = CloptContext()
    ctx.register_dialect("demo", lambda: DEMO)
    module = Parser(ctx, CONSTANTS).parse_module()
    NNFoldConstantsPass().apply(ctx, module)
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    end = function.body.block.last_op
    assert end is not None
    array = nn.constant_value(end.operands[0], ctx.weights)
    assert array is not None
    assert array[0, 0].tolist() == [[5, 3, 5], [3, 0, 3], [5, 3, 5]]


@pytest.mark.parametrize("precision", ["f32", "f16-storage"])
def test_on_devices(device: str, precision: str) -> None:
    model = network()
    compiled = clopt.compile(model, device=device, precision=precision)
    (got,) = compiled.run({"x": X})
    assert_near(got, expected(model), 1e-4 if precision == "f32" else 1e-2)


@pytest.mark.parametrize("precision", ["f32", "f16-storage"])
@pytest.mark.parametrize("channels", [6, 8])
def test_from_images(devices: Mapping[str, str], precision: str, channels: int) -> None:
    model = network(channels)
    compiled = clopt.compile(model, TARGET, precision=precision)
    body = compiled.source[compiled.source.index("kernel void contrast_") :]
    body = body[: body.index("\n}")]
    assert "__read_only image" in body
    assert "read_imagef" in body
    want, tolerance = expected(model), 1e-4 if precision == "f32" else 1e-2
    for device in devices.values():
        (got,) = clopt.compile(model, TARGET, precision=precision, device=device).run({"x": X})
        assert_near(got, want, tolerance)


def test_is_stored_as_half() -> None:
    compiled = clopt.compile(network(), "pocl", precision="f16-storage")
    (line,) = [line for line in compiled.source.splitlines() if "kernel void contrast_" in line]
    assert "half" in compiled.source[compiled.source.index(line) :].split(")")[0]


def test_elementwise_consumers_join_its_kernel() -> None:
    assert clopt.compile(network(), "pocl").source.count("kernel void") == 4  # one pads


def test_c_package(devices: Mapping[str, str], runtime: list[Path], tmp_path: Path) -> None:
    device = next(iter(devices.values()))
    model = clopt.compile(network(), device=device)
    model.save_c(tmp_path, "demo")
    (got,), _ = infer(tmp_path, link(tmp_path, runtime), device, model, [X])
    (want,) = model.run({"x": X})
    assert np.array_equal(got, want)
