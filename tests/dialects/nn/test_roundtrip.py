"""Every nn operation: construction, verification, printing and parsing back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    f16,
    f32,
    i1,
    i8,
    i64,
)
from xdsl.dialects.test import Test, TestOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.parser import Parser
from xdsl.printer import Printer

from clopt.dialects import nn, tir

Build = Callable[..., Operation]


def _t(*shape: int, type: Attribute = f32) -> Attribute:
    return TensorType(type, shape)


def _fused(x: SSAValue) -> nn.FusedOp:
    block = Block(arg_types=[x.type])
    relu = nn.UnaryOp(block.args[0], "relu")
    block.add_ops([relu, nn.YieldOp([relu.result])])
    return nn.FusedOp([x], block)


def _generic(x: SSAValue) -> nn.GenericOp:
    body = Block(arg_types=[f32])
    body.add_op(nn.YieldOp(body.args))
    i, j = AffineExpr.dimension(0), AffineExpr.dimension(1)
    maps = [AffineMap(2, 0, (i, j)), AffineMap(2, 0, (j, i))]
    return nn.GenericOp([x], maps, (2, 3), [f32], Region(body))


def _kernel(x: SSAValue) -> nn.KernelOp:
    body = _fused(x).detach_region(0)
    return nn.KernelOp("relu", [x.type], [x.type], body, constants=[0], comment="act")


_X4 = _t(2, 6, 9, 11)
_PACKED = nn.LayoutAttr([(1, 4)])
_IMAGE = nn.LayoutAttr([(1, 4)], tir.ScopeAttr(tir.Scope.Texture, [3]))
_V6 = _t(6)
_UI8 = IntegerType(8, Signedness.UNSIGNED)
CASES: list[tuple[Build, list[Attribute], list[Attribute]]] = [
    (lambda x: nn.UnaryOp(x, "relu"), [_t()], [_t()]),
    (lambda x: nn.UnaryOp(x, "selu", (1.5, 1 / 3)), [_t(3, type=f16)], [_t(3, type=f16)]),
    (lambda x: nn.UnaryOp(x, "isnan"), [_t(0, 4)], [_t(0, 4, type=i1)]),
    (lambda x: nn.ClipOp(x, 0, 6), [_t(3)], [_t(3)]),
    (
        lambda x, s, z: nn.QuantizeOp(x, s, z, nn.Rounding.HALF_UP),
        [_t(2, 6, 5), _t(6, 1), _t(type=i8)],
        [_t(2, 6, 5, type=i8)],
    ),
    (nn.DequantizeOp, [_t(2, 6, type=_UI8), _t(type=f16), _t(6, type=_UI8)], [_t(2, 6, type=f16)]),
    (lambda x: nn.ClipOp(x, 0, float("inf")), [_t(3, type=f16)], [_t(3, type=f16)]),
    (lambda x: nn.PadOp(x, (1,), (0,), value=float("-inf")), [_t(3)], [_t(4)]),
    (lambda x: nn.ClipOp(x, high=-0.1), [_t(3)], [_t(3)]),
    (lambda x: nn.ClipOp(x, low=-7), [_t(3, type=i8)], [_t(3, type=i8)]),
    (lambda a, b: nn.BinaryOp(a, b, "prelu"), [_t(2, 1, 4), _t(3, 1)], [_t(2, 3, 4)]),
    (lambda a, b: nn.BinaryOp(a, b, "and"), [_t(4, type=i1)] * 2, [_t(4, type=i1)]),
    (lambda a, b: nn.CompareOp(a, b, "lt"), [_t(2, 3), _t(3)], [_t(2, 3, type=i1)]),
    (nn.WhereOp, [_t(2, 1, type=i1), _t(3), _t()], [_t(2, 3)]),
    (lambda x: nn.CastOp(x, i64), [_t(2)], [_t(2, type=i64)]),
    (nn.ConvOp, [_X4, _t(4, 6, 3, 3)], [_t(2, 4, 7, 9)]),
    (
        lambda x, w, b: nn.ConvOp(
            x, w, b, strides=(2, 1), dilations=(1, 2), pads=(1, 2, 0, 2), groups=2
        ),
        [_X4, _t(4, 3, 3, 3), _t(4)],
        [_t(2, 4, 4, 11)],
    ),
    (lambda x, w: nn.ConvOp(x, w, groups=6), [_t(1, 6, 5), _t(6, 1, 5)], [_t(1, 6, 1)]),
    (
        lambda x, w, b: nn.ConvTransposeOp(
            x, w, b, strides=(2, 2), pads=(1, 1, 1, 1), output_padding=(1, 0), groups=2
        ),
        [_X4, _t(6, 2, 3, 3), _t(4)],
        [_t(2, 4, 18, 21)],
    ),
    (nn.MatmulOp, [_t(5, 1, 2, 3), _t(4, 3, 7)], [_t(5, 4, 2, 7)]),
    (
        lambda x, w, b: nn.WinogradConvOp(x, w, b, 4, (1, 1, 1, 1)),
        [_t(2, 3, 7, 6), _t(5, 36, 3), _t(5)],
        [_t(2, 5, 7, 6)],
    ),
    (nn.AttentionScoresOp, [_t(2, 9, 5), _t(7, 5)], [_t(2, 9, 7)]),
    (nn.AttentionOp, [_t(2, 9, 7), _t(1, 7, 4)], [_t(2, 9, 4)]),
    (lambda x: nn.WinogradInputOp(x, 4, (1, 1, 1, 1)), [_t(2, 3, 7, 6)], [_t(36, 3, 8)]),
    (nn.WinogradProductOp, [_t(16, 3, 6), _t(16, 5, 3)], [_t(16, 5, 6)]),
    (lambda m: nn.WinogradOutputOp(m, 2, (1, 5, 4)), [_t(16, 3, 6)], [_t(1, 3, 5, 4)]),
    (
        lambda a, b: nn.MatmulOp(a, b, transpose_a=True, transpose_b=True),
        [_t(3, 2), _t(7, 3)],
        [_t(2, 7)],
    ),
    (lambda x: nn.PoolOp(x, "max", (3, 3), strides=(2, 2)), [_X4], [_t(2, 6, 4, 5)]),
    (
        lambda x: nn.PoolOp(
            x, "average", (2, 2), strides=(2, 2), ceil_mode=True, count_include_pad=True
        ),
        [_X4],
        [_t(2, 6, 5, 6)],
    ),
    (lambda x: nn.PoolOp(x, "lp", (3, 3), p=3, pads=(1, 1, 1, 1)), [_X4], [_X4]),
    (
        lambda x: nn.MaxPoolIndicesOp(x, (2, 2), storage_order=1),
        [_X4],
        [_t(2, 6, 8, 10, type=i64)],
    ),
    (nn.BatchNormOp, [_X4, _V6, _V6, _V6, _V6], [_X4]),
    (lambda x, s: nn.LayerNormOp(x, s, axis=2), [_X4, _t(9, 11)], [_X4]),
    (nn.LayerNormOp, [_X4, _t(11), _t(11)], [_X4]),
    (lambda x, s: nn.RmsNormOp(x, s, epsilon=1e-6), [_X4, _t(11)], [_X4]),
    (lambda x, s, b: nn.GroupNormOp(x, s, b, 3), [_X4, _V6, _V6], [_X4]),
    (lambda x: nn.SoftmaxOp(x, axis=1, log=True), [_X4], [_X4]),
    (lambda x: nn.ReduceOp(x, "mean", (-1, 2), keepdims=True), [_X4], [_t(2, 6, 1, 1)]),
    (lambda x: nn.ReduceOp(x, "log_sum_exp", (0, 1, 2, 3)), [_X4], [_t()]),
    (lambda x: nn.ArgReduceOp(x, "max", -1, select_last=True), [_X4], [_t(2, 6, 9, type=i64)]),
    (lambda x: nn.CumsumOp(x, -2, exclusive=True, reverse=True), [_X4], [_X4]),
    (lambda x: nn.ReshapeOp(x, (2, -6 + 12, 99)), [_X4], [_t(2, 6, 99)]),
    (lambda x: nn.ReshapeOp(x, ()), [_t(1, 1)], [_t()]),
    (lambda x: nn.TransposeOp(x, (0, 2, 3, 1)), [_X4], [_t(2, 9, 11, 6)]),
    (lambda *xs: nn.ConcatOp(xs, -1), [_t(2, 3), _t(2, 1), _t(2, 0)], [_t(2, 4)]),
    (lambda x: nn.SliceOp(x, (1, 4), (1, 3), (1, -2)), [_t(2, 5)], [_t(1, 3)]),
    (lambda x: nn.PadOp(x, (1, 0), (0, -2), value=-1.5), [_t(2, 5)], [_t(3, 3)]),
    (lambda x: nn.PadOp(x, (0, 2), (0, 1), "reflect"), [_t(2, 5)], [_t(2, 8)]),
    (nn.GatherOp, [_t(5, 6), _t(2, 3, type=i64)], [_t(2, 3, 6)]),
    (lambda x, i: nn.GatherElementsOp(x, i, 1), [_t(5, 6), _t(3, 9, type=i64)], [_t(3, 9)]),
    (lambda x, i: nn.GatherNDOp(x, i, 1), [_t(2, 5, 6), _t(2, 1, type=i64)], [_t(2, 6)]),
    (
        lambda x, i, u: nn.ScatterElementsOp(x, i, u, 1, "add"),
        [_t(5, 6), _t(2, 9, type=i64), _t(2, 9)],
        [_t(5, 6)],
    ),
    (
        lambda x, u, at: nn.InsertSliceOp(x, u, at, -1),
        [_t(5, 6), _t(5, 2), _t(type=i64)],
        [_t(5, 6)],
    ),
    (
        lambda x, u, at: nn.InsertSliceOp(x, u, at, -1),
        [_t(5, 6), _t(5, 2), _t(5, type=i64)],
        [_t(5, 6)],
    ),
    (nn.ScatterNDOp, [_t(5, 6), _t(4, 1, type=i64), _t(4, 6)], [_t(5, 6)]),
    (lambda x: nn.ExpandOp(x, (2, 3, 4)), [_t(3, 1)], [_t(2, 3, 4)]),
    (lambda x: nn.TileOp(x, (2, 0)), [_t(3, 1)], [_t(6, 0)]),
    (lambda x: nn.ResizeOp(x, (2, 6, 18, 22)), [_X4], [_t(2, 6, 18, 22)]),
    (
        lambda x: nn.ResizeOp(
            x,
            (2, 6, 5, 5),
            "cubic",
            coordinate_mode="tf_crop_and_resize",
            cubic_coeff_a=-0.5,
            exclude_outside=True,
            extrapolation_value=10.0,
            roi=[0, 0, 0.25, 0.25, 1, 1, 0.75, 0.75],
        ),
        [_X4],
        [_t(2, 6, 5, 5)],
    ),
    (lambda x: nn.DepthToSpaceOp(x, 2, "crd"), [_t(1, 8, 2, 3)], [_t(1, 2, 4, 6)]),
    (lambda x: nn.SpaceToDepthOp(x, 2), [_t(1, 2, 4, 6)], [_t(1, 8, 2, 3)]),
    (lambda x: nn.TopKOp(x, 2, 0), [_t(5, 3)], [_t(2, 3), _t(2, 3, type=i64)]),
    (lambda: nn.ConstantOp.from_array(np.float32([1, 1 / 3])), [], [_t(2)]),
    (lambda: nn.ConstantOp.from_array(np.array([[True], [False]])), [], [_t(2, 1, type=i1)]),
    (lambda: nn.ConstantOp.from_array(np.ones((2, 200), np.float16)), [], [_t(2, 200, type=f16)]),
    (lambda: nn.ConstantOp.from_array(np.arange(200, dtype=np.uint8)), [], [_t(200, type=_UI8)]),
    (lambda: nn.ConstantOp.from_array(np.array(-3)), [], [_t(type=i64)]),
    (lambda: nn.ConstantOp.from_array(np.zeros((0, 3), np.float32)), [], [_t(0, 3)]),
    (lambda: nn.ConstantOp(nn.WeightAttr("w_12", "conv1.w"), _t(64, 64)), [], [_t(64, 64)]),
    (_fused, [_X4], [_X4]),
    (_kernel, [_X4], []),
    (_generic, [_t(2, 3)], [_t(3, 2)]),
    (lambda x: nn.RelayoutOp(x, _PACKED), [_X4], [nn.with_layout(_X4, _PACKED)]),
    (lambda x: nn.RelayoutOp(x, None), [nn.with_layout(_X4, _IMAGE)], [_X4]),
]


def _context() -> Context:
    ctx = Context()
    for dialect in (Builtin, Test, nn.NN, tir.TIR):
        ctx.load_dialect(dialect)
    return ctx


def _text(module: ModuleOp, generic: bool) -> str:
    out = StringIO()
    Printer(out, print_generic_format=generic).print_op(module)
    return out.getvalue()


def _operands(types: Sequence[Attribute]) -> TestOp:
    return TestOp(result_types=types)


@pytest.mark.parametrize(("build", "operands", "results"), CASES)
def test_roundtrip(build: Build, operands: list[Attribute], results: list[Attribute]) -> None:
    source = _operands(operands)
    op = build(*source.results)
    module = ModuleOp([source, op])
    module.verify()
    assert [r.type for r in op.results] == results
    for generic in (False, True):
        text = _text(module, generic)
        parsed = Parser(_context(), text).parse_module()
        parsed.verify()
        assert parsed.is_structurally_equivalent(module), text
        assert _text(parsed, generic) == text


def test_non_finite_constants_keep_their_bits() -> None:
    array = np.array([1, np.inf, -np.inf, np.nan], np.float32)
    text = _text(ModuleOp([nn.ConstantOp.from_array(array)]), generic=False)
    (parsed,) = Parser(_context(), text).parse_module().ops
    np.testing.assert_array_equal(nn.constant_value(parsed.results[0]), array)


def test_every_operation_is_covered() -> None:
    built = {type(build(*_operands(types).results)) for build, types, _ in CASES}
    # A loop needs a body in its module: lit_tests/dialects/nn/loop.mlir.
    assert {*nn.NN.operations} == built | {nn.YieldOp, nn.IndexOp, nn.LoopOp}
