"""The numpy evaluator of nn against onnxruntime, operation by operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import helper
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation

from clopt.dialects import nn
from clopt.dialects.nn.evaluation import evaluate
from support.nn.evaluated import Drawing, by_onnx, check, integers

floats = Drawing(7)

Array = np.ndarray[Any, np.dtype[Any]]
Array = np.ndarray[Any, np.dtype[Any]]


_U = nn.UnaryKind
UNARY: dict[nn.UnaryKind, tuple[str, dict[str, float]]] = {
    **{
        kind: (name, {})
        for kind, name in {
            _U.NEG: "Neg",
            _U.ABS: "Abs",
            _U.SIGN: "Sign",
            _U.FLOOR: "Floor",
            _U.CEIL: "Ceil",
            _U.ROUND: "Round",
            _U.SQRT: "Sqrt",
            _U.RECIPROCAL: "Reciprocal",
            _U.EXP: "Exp",
            _U.LOG: "Log",
            _U.SIN: "Sin",
            _U.COS: "Cos",
            _U.TAN: "Tan",
            _U.ASIN: "Asin",
            _U.ACOS: "Acos",
            _U.ATAN: "Atan",
            _U.SINH: "Sinh",
            _U.COSH: "Cosh",
            _U.TANH: "Tanh",
            _U.ASINH: "Asinh",
            _U.ACOSH: "Acosh",
            _U.ATANH: "Atanh",
            _U.ERF: "Erf",
            _U.RELU: "Relu",
            _U.SIGMOID: "Sigmoid",
            _U.GELU: "Gelu",
            _U.SOFTPLUS: "Softplus",
            _U.SOFTSIGN: "Softsign",
            _U.MISH: "Mish",
            _U.HARD_SWISH: "HardSwish",
            _U.ISNAN: "IsNaN",
        }.items()
    },
    _U.LEAKY_RELU: ("LeakyRelu", {"alpha": 0.1}),
    _U.ELU: ("Elu", {"alpha": 1.5}),
    _U.SELU: ("Selu", {"alpha": 1.5, "gamma": 1.1}),
    _U.CELU: ("Celu", {"alpha": 2.0}),
    _U.HARD_SIGMOID: ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}),
    _U.THRESHOLDED_RELU: ("ThresholdedRelu", {"alpha": 0.5}),
    _U.SHRINK: ("Shrink", {"bias": 0.3, "lambd": 0.5}),
    _U.ISINF: ("IsInf", {"detect_negative": 0, "detect_positive": 1}),
}


@pytest.mark.parametrize("kind", UNARY)
def test_unary(kind: nn.UnaryKind) -> None:
    name, attributes = UNARY[kind]
    x = np.float32([0.3, -0.4, 0.5, -0.5, 1.5, 2.5, -1.2, 7.0, 0.0, -6.0, np.inf, -np.inf, np.nan])
    finite = kind not in (_U.ISINF, _U.ISNAN)
    x = x[:10] if finite else x
    expected = by_onnx(name, [x], 1, **attributes)
    check(lambda v: nn.UnaryOp(v, kind, tuple(attributes.values())), [x], expected)


def test_gelu_tanh() -> None:
    x = floats(20)
    expected = by_onnx("Gelu", [x], 1, approximate="tanh")
    check(lambda v: nn.UnaryOp(v, "gelu_tanh"), [x], expected)


def test_logical_functions() -> None:
    flags = np.array([True, False])
    check(lambda v: nn.UnaryOp(v, "logical_not"), [flags], by_onnx("Not", [flags], 1))
    bits = np.array([0, 5, 255], np.uint8)
    check(lambda v: nn.UnaryOp(v, "bitwise_not"), [bits], by_onnx("BitwiseNot", [bits], 1))


_B = nn.BinaryKind
_INTEGERS = (
    np.array([7, -7, 7, -7, 5, 0], np.int32),
    np.array([2, 2, -2, -2, 5, 3], np.int32),
)


_BITS = (np.array([1, 6, 255], np.uint8), np.array([3, 2, 1], np.uint8))
_FLAGS = (np.array([True, True, False]), np.array([[True], [False]]))


_FLOATS = (floats(2, 3), floats(4, 1, 3))
BINARY: list[tuple[nn.BinaryKind, str, tuple[Array, Array], dict[str, Any]]] = [
    *((_B(n.lower()), n, _FLOATS, {}) for n in ("Add", "Sub", "Mul", "Div", "Max", "Min")),
    *((_B(n.lower()), n, _INTEGERS, {}) for n in ("Add", "Sub", "Mul", "Div", "Mod")),
    *((_B(n.lower()), n, _FLAGS, {}) for n in ("And", "Or", "Xor")),
    (_B.POW, "Pow", (np.abs(_FLOATS[0]), _FLOATS[1]), {}),
    (_B.POW, "Pow", (_INTEGERS[0], np.array([2], np.int32)), {}),
    (_B.FMOD, "Mod", _FLOATS, {"fmod": 1}),
    (_B.FMOD, "Mod", _INTEGERS, {"fmod": 1}),
    (_B.PRELU, "PRelu", (floats(2, 3, 4), floats(3, 1)), {}),
    (_B.BIT_AND, "BitwiseAnd", _BITS, {}),
    (_B.BIT_OR, "BitwiseOr", _BITS, {}),
    (_B.BIT_XOR, "BitwiseXor", _BITS, {}),
    (_B.SHL, "BitShift", _BITS, {"direction": "LEFT"}),
    (_B.SHR, "BitShift", _BITS, {"direction": "RIGHT"}),
]


@pytest.mark.parametrize(("kind", "name", "inputs", "attributes"), BINARY)
def test_binary(
    kind: nn.BinaryKind, name: str, inputs: tuple[Array, Array], attributes: dict[str, Any]
) -> None:
    expected = by_onnx(name, inputs, 1, **attributes)
    check(lambda a, b: nn.BinaryOp(a, b, kind), inputs, expected)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("eq", "Equal"),
        ("lt", "Less"),
        ("le", "LessOrEqual"),
        ("gt", "Greater"),
        ("ge", "GreaterOrEqual"),
    ],
)
def test_compare(kind: str, name: str) -> None:
    inputs = [np.float32([[1, 2], [3, np.nan]]), np.float32([2, 2])]
    check(lambda a, b: nn.CompareOp(a, b, kind), inputs, by_onnx(name, inputs, 1))


def test_casts_truncate() -> None:
    x = np.float32([1.9, -1.9, 0, 0.1])
    for dtype in (np.int32, np.bool_, np.float16):
        to = nn.element_type(dtype)
        expected = by_onnx("Cast", [x], 1, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
        check(lambda v, to=to: nn.CastOp(v, to), [x], expected)


_X4 = floats(2, 6, 9, 11)
_V6 = [floats(6) for _ in range(3)]


CASES: list[
    tuple[Callable[..., Operation], list[Array], str, list[Array | None], dict[str, Any]]
] = [
    (lambda x: nn.ClipOp(x, -0.5, 0.5), [_X4], "Clip", [_X4, *np.float32([-0.5, 0.5])], {}),
    (nn.WhereOp, [_FLAGS[0], floats(2, 1), floats(3)], "Where", [], {}),
    (
        lambda x, w, b: nn.ConvOp(
            x, w, b, strides=(2, 1), dilations=(1, 2), pads=(1, 2, 0, 3), groups=2
        ),
        [_X4, floats(4, 3, 3, 3), floats(4)],
        "Conv",
        [],
        {"strides": [2, 1], "dilations": [1, 2], "pads": [1, 2, 0, 3], "group": 2},
    ),
    (
        lambda x, w, b: nn.ConvTransposeOp(
            x,
            w,
            b,
            strides=(2, 3),
            dilations=(1, 2),
            pads=(1, 0, 2, 1),
            output_padding=(1, 2),
            groups=2,
        ),
        [_X4, floats(6, 2, 3, 2), floats(4)],
        "ConvTranspose",
        [],
        {
            "strides": [2, 3],
            "dilations": [1, 2],
            "pads": [1, 0, 2, 1],
            "output_padding": [1, 2],
            "group": 2,
        },
    ),
    (nn.ConvTransposeOp, [floats(1, 2, 5), floats(2, 3, 3)], "ConvTranspose", [], {}),
    (nn.MatmulOp, [floats(5, 1, 2, 3), floats(4, 3, 7)], "MatMul", [], {}),
    (
        lambda a, b: nn.MatmulOp(a, b, transpose_a=True, transpose_b=True),
        [floats(3, 2), floats(7, 3)],
        "Gemm",
        [],
        {"transA": 1, "transB": 1},
    ),
    (
        nn.BatchNormOp,
        [_X4, *_V6, np.abs(floats(6))],
        "BatchNormalization",
        [],
        {"epsilon": 1e-5},
    ),
    (
        lambda x, s, b: nn.LayerNormOp(x, s, b, axis=2, epsilon=1e-3),
        [_X4, floats(9, 11), floats(9, 11)],
        "LayerNormalization",
        [],
        {"axis": 2, "epsilon": 1e-3},
    ),
    (
        lambda x, s, b: nn.GroupNormOp(x, s, b, 3),
        [_X4, _V6[0], _V6[1]],
        "GroupNormalization",
        [],
        {"num_groups": 3},
    ),
    (
        lambda x, s, b: nn.GroupNormOp(x, s, b, 6),
        [_X4, _V6[0], _V6[1]],
        "InstanceNormalization",
        [],
        {},
    ),
    (lambda x: nn.SoftmaxOp(x, axis=1), [_X4], "Softmax", [], {"axis": 1}),
    (lambda x: nn.SoftmaxOp(x, log=True), [_X4], "LogSoftmax", [], {"axis": -1}),
    (
        lambda x: nn.ArgReduceOp(x, "max", 1, keepdims=True, select_last=True),
        [np.round(_X4)],
        "ArgMax",
        [],
        {"axis": 1, "select_last_index": 1},
    ),
    (
        lambda x: nn.ArgReduceOp(x, "min", -1),
        [np.round(_X4)],
        "ArgMin",
        [],
        {"axis": -1, "keepdims": 0},
    ),
    (
        lambda x: nn.CumsumOp(x, 1, exclusive=True, reverse=True),
        [_X4],
        "CumSum",
        [_X4, np.array(1)],
        {"exclusive": 1, "reverse": 1},
    ),
    (
        lambda x: nn.SliceOp(x, (1, 4), (1, 3), (1, -2)),
        [floats(2, 5)],
        "Slice",
        [None, integers(1, 4), integers(2, -9), integers(0, 1), integers(1, -2)],
        {},
    ),
    (
        lambda x: nn.PadOp(x, (1, 0), (0, -2), value=-1.5),
        [floats(2, 5)],
        "Pad",
        [None, integers(1, 0, 0, -2), np.float32(-1.5)],
        {},
    ),
    *(
        (
            lambda x, mode=mode: nn.PadOp(x, (1, 2), (0, 1), mode),
            [floats(2, 5)],
            "Pad",
            [None, integers(1, 2, 0, 1)],
            {"mode": mode},
        )
        for mode in ("reflect", "edge", "wrap")
    ),
    (
        lambda x, i: nn.GatherOp(x, i, 1),
        [_X4, np.array([[0, -1], [5, -6]])],
        "Gather",
        [],
        {"axis": 1},
    ),
    (
        lambda x, i: nn.GatherElementsOp(x, i, 1),
        [floats(5, 6), np.array([[0, 1], [-1, 3]])],
        "GatherElements",
        [],
        {"axis": 1},
    ),
    (nn.GatherNDOp, [floats(5, 6, 2), np.array([[[0, 1]], [[-1, 3]]])], "GatherND", [], {}),
    (
        lambda x, i: nn.GatherNDOp(x, i, 1),
        [floats(2, 5, 6), np.array([[1], [-2]])],
        "GatherND",
        [],
        {"batch_dims": 1},
    ),
    (
        lambda x, i, u: nn.ScatterElementsOp(x, i, u, 1, "add"),
        [floats(2, 6), np.array([[0, 0], [-1, 3]]), floats(2, 2)],
        "ScatterElements",
        [],
        {"axis": 1, "reduction": "add"},
    ),
    (nn.ScatterNDOp, [floats(5, 6), np.array([[4], [-4]]), floats(2, 6)], "ScatterND", [], {}),
    (
        lambda x, i, u: nn.ScatterNDOp(x, i, u, "max"),
        [floats(5, 6), np.array([[4, 1], [4, 1]]), floats(2)],
        "ScatterND",
        [],
        {"reduction": "max"},
    ),
    (lambda x: nn.TileOp(x, (2, 3)), [floats(3, 2)], "Tile", [None, integers(2, 3)], {}),
    (lambda x: nn.ExpandOp(x, (2, 3, 4)), [floats(3, 1)], "Expand", [None, integers(2, 3, 4)], {}),
    (lambda x: nn.TransposeOp(x, (0, 2, 3, 1)), [_X4], "Transpose", [], {"perm": [0, 2, 3, 1]}),
    (lambda *x: nn.ConcatOp(x, -1), [floats(2, 3), floats(2, 1)], "Concat", [], {"axis": -1}),
    *(
        (
            lambda x, mode=mode: nn.DepthToSpaceOp(x, 2, mode),
            [floats(1, 8, 2, 3)],
            "DepthToSpace",
            [],
            {"blocksize": 2, "mode": mode.upper()},
        )
        for mode in ("dcr", "crd")
    ),
    (lambda x: nn.SpaceToDepthOp(x, 2), [floats(1, 2, 4, 6)], "SpaceToDepth", [], {"blocksize": 2}),
]


@pytest.mark.parametrize(("build", "inputs", "name", "onnx_inputs", "attributes"), CASES)
def test_operation(
    build: Callable[..., Operation],
    inputs: list[Array],
    name: str,
    onnx_inputs: list[Array | None],
    attributes: dict[str, Any],
) -> None:
    given = [*inputs, *onnx_inputs[1:]]
    check(build, inputs, by_onnx(name, given, 1, **attributes))


def test_insert_slice_at_a_start_for_each_row() -> None:
    operands = [np.array([[*b"0123"], [*b"4567"]]), np.array([[*b"a"], [*b"b"]]), np.array([2, 0])]
    source = TestOp(result_types=[*map(nn.array_type, operands)])
    (found,) = evaluate(nn.InsertSliceOp(*source.results, 1), operands) or ()
    assert [bytes(row.tolist()).decode() for row in found] == ["01a3", "b567"]


def test_index_out_of_range_is_not_evaluated() -> None:
    x, at = floats(3), integers(3)
    source = TestOp(result_types=[nn.array_type(x), nn.array_type(at)])
    assert evaluate(nn.GatherOp(*source.results), [x, at]) is None


@pytest.mark.parametrize(
    ("start", "expected"), [(1, "0ab3"), (-1, "b123"), (3, "012a"), (9, "0123")]
)
def test_insert_slice_leaves_out_what_is_outside(start: int, expected: str) -> None:
    operands = [np.array([[*b"0123"]]), np.array([[*b"ab"]]), np.array(start)]
    source = TestOp(result_types=[*map(nn.array_type, operands)])
    (found,) = evaluate(nn.InsertSliceOp(*source.results, 1), operands) or ()
    assert bytes(found[0].tolist()).decode() == expected
