"""The numpy evaluator of nn against onnxruntime, operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation

from clopt.dialects import nn
from clopt.dialects.nn.evaluation import evaluate

Array = np.ndarray[Any, np.dtype[Any]]
_RNG = np.random.default_rng(7)


def _f(*shape: int) -> Array:
    return _RNG.normal(size=shape).astype(np.float32)


def _i(*values: int) -> Array:
    return np.array(values, np.int64)


def _onnxruntime(
    op_type: str, inputs: Sequence[Array | None], outputs: int, **attributes: Any
) -> list[Array]:
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    feeds = {name: np.asarray(x) for name, x in zip(names, inputs, strict=True) if x is not None}
    node = helper.make_node(op_type, names, [f"y{i}" for i in range(outputs)], **attributes)
    graph = helper.make_graph(
        [node],
        "one",
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for n, x in feeds.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in node.output],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)


def _check(
    build: Callable[..., Operation], inputs: Sequence[Array], expected: Sequence[Array]
) -> None:
    source = TestOp(result_types=[nn.array_type(x) for x in inputs])
    op = build(*source.results)
    op.verify()
    results = evaluate(op, inputs)
    assert results is not None
    for result, value, array in zip(op.results, results, expected, strict=True):
        assert nn.array_type(value) == result.type
        assert value.dtype == array.dtype
        np.testing.assert_allclose(value, array, rtol=2e-5, atol=2e-6)


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
    expected = _onnxruntime(name, [x], 1, **attributes)
    _check(lambda v: nn.UnaryOp(v, kind, tuple(attributes.values())), [x], expected)


def test_gelu_tanh() -> None:
    x = _f(20)
    expected = _onnxruntime("Gelu", [x], 1, approximate="tanh")
    _check(lambda v: nn.UnaryOp(v, "gelu_tanh"), [x], expected)


def test_logical_functions() -> None:
    flags = np.array([True, False])
    _check(lambda v: nn.UnaryOp(v, "logical_not"), [flags], _onnxruntime("Not", [flags], 1))
    bits = np.array([0, 5, 255], np.uint8)
    _check(lambda v: nn.UnaryOp(v, "bitwise_not"), [bits], _onnxruntime("BitwiseNot", [bits], 1))


_B = nn.BinaryKind
_INTEGERS = (
    np.array([7, -7, 7, -7, 5, 0], np.int32),
    np.array([2, 2, -2, -2, 5, 3], np.int32),
)
_BITS = (np.array([1, 6, 255], np.uint8), np.array([3, 2, 1], np.uint8))
_FLAGS = (np.array([True, True, False]), np.array([[True], [False]]))
_FLOATS = (_f(2, 3), _f(4, 1, 3))
BINARY: list[tuple[nn.BinaryKind, str, tuple[Array, Array], dict[str, Any]]] = [
    *((_B(n.lower()), n, _FLOATS, {}) for n in ("Add", "Sub", "Mul", "Div", "Max", "Min")),
    *((_B(n.lower()), n, _INTEGERS, {}) for n in ("Add", "Sub", "Mul", "Div", "Mod")),
    *((_B(n.lower()), n, _FLAGS, {}) for n in ("And", "Or", "Xor")),
    (_B.POW, "Pow", (np.abs(_FLOATS[0]), _FLOATS[1]), {}),
    (_B.POW, "Pow", (_INTEGERS[0], np.array([2], np.int32)), {}),
    (_B.FMOD, "Mod", _FLOATS, {"fmod": 1}),
    (_B.FMOD, "Mod", _INTEGERS, {"fmod": 1}),
    (_B.PRELU, "PRelu", (_f(2, 3, 4), _f(3, 1)), {}),
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
    expected = _onnxruntime(name, inputs, 1, **attributes)
    _check(lambda a, b: nn.BinaryOp(a, b, kind), inputs, expected)


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
    _check(lambda a, b: nn.CompareOp(a, b, kind), inputs, _onnxruntime(name, inputs, 1))


def test_casts_truncate() -> None:
    x = np.float32([1.9, -1.9, 0, 0.1])
    for dtype in (np.int32, np.bool_, np.float16):
        to = nn.element_type(dtype)
        expected = _onnxruntime("Cast", [x], 1, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
        _check(lambda v, to=to: nn.CastOp(v, to), [x], expected)


_X4 = _f(2, 6, 9, 11)
_V6 = [_f(6) for _ in range(3)]
CASES: list[
    tuple[Callable[..., Operation], list[Array], str, list[Array | None], dict[str, Any]]
] = [
    (lambda x: nn.ClipOp(x, -0.5, 0.5), [_X4], "Clip", [_X4, *np.float32([-0.5, 0.5])], {}),
    (nn.WhereOp, [_FLAGS[0], _f(2, 1), _f(3)], "Where", [], {}),
    (
        lambda x, w, b: nn.ConvOp(
            x, w, b, strides=(2, 1), dilations=(1, 2), pads=(1, 2, 0, 3), groups=2
        ),
        [_X4, _f(4, 3, 3, 3), _f(4)],
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
        [_X4, _f(6, 2, 3, 2), _f(4)],
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
    (nn.ConvTransposeOp, [_f(1, 2, 5), _f(2, 3, 3)], "ConvTranspose", [], {}),
    (nn.MatmulOp, [_f(5, 1, 2, 3), _f(4, 3, 7)], "MatMul", [], {}),
    (
        lambda a, b: nn.MatmulOp(a, b, transpose_a=True, transpose_b=True),
        [_f(3, 2), _f(7, 3)],
        "Gemm",
        [],
        {"transA": 1, "transB": 1},
    ),
    (
        nn.BatchNormOp,
        [_X4, *_V6, np.abs(_f(6))],
        "BatchNormalization",
        [],
        {"epsilon": 1e-5},
    ),
    (
        lambda x, s, b: nn.LayerNormOp(x, s, b, axis=2, epsilon=1e-3),
        [_X4, _f(9, 11), _f(9, 11)],
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
        [_f(2, 5)],
        "Slice",
        [None, _i(1, 4), _i(2, -9), _i(0, 1), _i(1, -2)],
        {},
    ),
    (
        lambda x: nn.PadOp(x, (1, 0), (0, -2), value=-1.5),
        [_f(2, 5)],
        "Pad",
        [None, _i(1, 0, 0, -2), np.float32(-1.5)],
        {},
    ),
    *(
        (
            lambda x, mode=mode: nn.PadOp(x, (1, 2), (0, 1), mode),
            [_f(2, 5)],
            "Pad",
            [None, _i(1, 2, 0, 1)],
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
        [_f(5, 6), np.array([[0, 1], [-1, 3]])],
        "GatherElements",
        [],
        {"axis": 1},
    ),
    (nn.GatherNDOp, [_f(5, 6, 2), np.array([[[0, 1]], [[-1, 3]]])], "GatherND", [], {}),
    (
        lambda x, i: nn.GatherNDOp(x, i, 1),
        [_f(2, 5, 6), np.array([[1], [-2]])],
        "GatherND",
        [],
        {"batch_dims": 1},
    ),
    (
        lambda x, i, u: nn.ScatterElementsOp(x, i, u, 1, "add"),
        [_f(2, 6), np.array([[0, 0], [-1, 3]]), _f(2, 2)],
        "ScatterElements",
        [],
        {"axis": 1, "reduction": "add"},
    ),
    (nn.ScatterNDOp, [_f(5, 6), np.array([[4], [-4]]), _f(2, 6)], "ScatterND", [], {}),
    (
        lambda x, i, u: nn.ScatterNDOp(x, i, u, "max"),
        [_f(5, 6), np.array([[4, 1], [4, 1]]), _f(2)],
        "ScatterND",
        [],
        {"reduction": "max"},
    ),
    (lambda x: nn.TileOp(x, (2, 3)), [_f(3, 2)], "Tile", [None, _i(2, 3)], {}),
    (lambda x: nn.ExpandOp(x, (2, 3, 4)), [_f(3, 1)], "Expand", [None, _i(2, 3, 4)], {}),
    (lambda x: nn.TransposeOp(x, (0, 2, 3, 1)), [_X4], "Transpose", [], {"perm": [0, 2, 3, 1]}),
    (lambda *x: nn.ConcatOp(x, -1), [_f(2, 3), _f(2, 1)], "Concat", [], {"axis": -1}),
    *(
        (
            lambda x, mode=mode: nn.DepthToSpaceOp(x, 2, mode),
            [_f(1, 8, 2, 3)],
            "DepthToSpace",
            [],
            {"blocksize": 2, "mode": mode.upper()},
        )
        for mode in ("dcr", "crd")
    ),
    (lambda x: nn.SpaceToDepthOp(x, 2), [_f(1, 2, 4, 6)], "SpaceToDepth", [], {"blocksize": 2}),
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
    _check(build, inputs, _onnxruntime(name, given, 1, **attributes))


REDUCE = {
    "sum": "ReduceSum",
    "mean": "ReduceMean",
    "max": "ReduceMax",
    "min": "ReduceMin",
    "prod": "ReduceProd",
    "l1": "ReduceL1",
    "l2": "ReduceL2",
    "log_sum": "ReduceLogSum",
    "log_sum_exp": "ReduceLogSumExp",
    "sum_square": "ReduceSumSquare",
}


@pytest.mark.parametrize("kind", REDUCE)
def test_reduce(kind: str) -> None:
    x = np.abs(_f(2, 3, 4)) + 0.5
    expected = _onnxruntime(REDUCE[kind], [x, _i(0, 2)], 1, keepdims=0)
    _check(lambda v: nn.ReduceOp(v, kind, (0, 2)), [x], expected)


def test_mean_of_integers_that_cannot_hold_the_sum() -> None:
    x = np.full(256, 127, np.int8)
    _check(lambda v: nn.ReduceOp(v, "mean", (0,)), [x], [np.array(127, np.int8)])


@pytest.mark.parametrize("largest", [True, False])
def test_top_k(largest: bool) -> None:
    x = np.round(_f(4, 7) * 2)
    expected = _onnxruntime("TopK", [x, _i(3)], 2, largest=int(largest), axis=1)
    _check(lambda v: nn.TopKOp(v, 3, 1, largest), [x], expected)


_WINDOW: dict[str, Any] = {"strides": (2, 3), "pads": (1, 0, 2, 1)}


@pytest.mark.parametrize("ceil", [False, True])
def test_max_pool(ceil: bool) -> None:
    window = {**_WINDOW, "dilations": (1, 2), "ceil_mode": ceil}
    expected = _onnxruntime(
        "MaxPool", [_X4], 2, kernel_shape=(3, 2), **{**window, "ceil_mode": int(ceil)}
    )
    _check(lambda v: nn.PoolOp(v, "max", (3, 2), **window), [_X4], expected[:1])
    _check(lambda v: nn.MaxPoolIndicesOp(v, (3, 2), **window), [_X4], expected[1:])


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize("ceil", [False, True])
def test_average_pool(ceil: bool, include: bool) -> None:
    expected = _onnxruntime(
        "AveragePool",
        [_X4],
        1,
        kernel_shape=(3, 2),
        ceil_mode=int(ceil),
        count_include_pad=int(include),
        **_WINDOW,
    )
    _check(
        lambda v: nn.PoolOp(
            v, "average", (3, 2), ceil_mode=ceil, count_include_pad=include, **_WINDOW
        ),
        [_X4],
        expected,
    )


def test_lp_pool() -> None:
    expected = _onnxruntime("LpPool", [_X4], 1, kernel_shape=(3, 2), p=3, **_WINDOW)
    _check(lambda v: nn.PoolOp(v, "lp", (3, 2), p=3, **_WINDOW), [_X4], expected)


def test_rms_norm() -> None:
    x, scale = _f(2, 3, 8), _f(8)
    expected = x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-5)) * scale
    _check(nn.RmsNormOp, [x, scale], [expected])


_LINEAR = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")


@pytest.mark.parametrize("sizes", [(1, 2, 7, 3), (1, 2, 8, 10), (1, 2, 1, 2)])
@pytest.mark.parametrize(
    ("mode", "coordinates", "nearest"),
    [
        *(("linear", c, "floor") for c in (*_LINEAR, "half_pixel_symmetric")),
        *(("cubic", c, "floor") for c in _LINEAR),
        *(("nearest", c, "round_prefer_floor") for c in (*_LINEAR, "tf_half_pixel_for_nn")),
        *(("nearest", "asymmetric", n) for n in ("round_prefer_ceil", "floor", "ceil")),
    ],
)
def test_resize(mode: str, coordinates: str, nearest: str, sizes: tuple[int, ...]) -> None:
    x = _f(1, 2, 4, 5)
    attributes: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        attributes["nearest_mode"] = nearest
    expected = _onnxruntime("Resize", [x, None, None, _i(*sizes)], 1, **attributes)
    _check(
        lambda v: nn.ResizeOp(v, sizes, mode, coordinate_mode=coordinates, nearest_mode=nearest),
        [x],
        expected,
    )


def test_crop_and_resize() -> None:
    x = _f(1, 1, 4, 4)
    roi = [0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7]
    expected = _onnxruntime(
        "Resize",
        [x, np.float32(roi), None, _i(1, 1, 3, 3)],
        1,
        mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=10.0,
    )
    _check(
        lambda v: nn.ResizeOp(
            v,
            (1, 1, 3, 3),
            "linear",
            coordinate_mode="tf_crop_and_resize",
            extrapolation_value=10.0,
            roi=roi,
        ),
        [x],
        expected,
    )


def test_index_out_of_range_is_not_evaluated() -> None:
    x, at = _f(3), _i(3)
    source = TestOp(result_types=[nn.array_type(x), nn.array_type(at)])
    assert evaluate(nn.GatherOp(*source.results), [x, at]) is None
