"""Operations that CLML lacks are refused twice: by the compiler, and by the reference if called.

A compiled program cannot misuse objects (memory too small, tensors not in the set, released
handles, sizes asked too early), so only the reference refuses that: see test_core.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from xdsl.dialects.builtin import f16, f32
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

import clopt
from clopt.dialects import clml
from clopt.dialects.clml import Layout, MLOp, MLTensorType, Usage
from clopt.frontends.onnx import import_onnx
from clopt.weights import Weights
from support.clml.reference.operations import Driver, Operation
from support.clml.single_ops import Case, model_of

from .test_operations_misuse import MISUSES, pad, tensor

X = {"x": (1, 6, 8, 8)}


@dataclass(frozen=True)
class Row:
    """How a case is refused: nodes of ONNX or a command, and a call of the reference."""

    reason: str
    """What the partitioner or the verifier says, in part."""
    source: Case | Callable[[], MLOp]
    called: str | Callable[[], Operation] | None
    """The misuse by its name in test_operations_misuse.py; None where the API cannot say it."""
    words: str = ""
    """What the reference says, where the misuse is not from there."""
    version: int = 5


def case(nodes: str, inputs: dict[str, tuple[int, ...]] = X, **constants: object) -> Case:
    """Nodes with constants; arrays stay constants, the other values are shapes of weights."""
    fixed = {name: value for name, value in constants.items() if isinstance(value, np.ndarray)}
    weights = {name: value for name, value in constants.items() if name not in fixed}
    return Case("n", nodes, inputs, "", weights, fixed)  # type: ignore[arg-type]


def value(
    *sizes: int,
    layout: Layout = Layout.OPTIMAL,
    usage: Usage = Usage.CNN,
    element: Attribute = f32,
) -> SSAValue:
    return TestOp(result_types=[MLTensorType(sizes, element, layout, usage)]).results[0]


def parameter(*sizes: int) -> SSAValue:
    return value(*sizes, usage=Usage.PARAMETER)


def result(*sizes: int, layout: Layout = Layout.OPTIMAL) -> MLTensorType:
    return MLTensorType(sizes, f32, layout)


def fused_tanh() -> MLOp:
    operands = (value(1, 4, 8, 8), parameter(6, 4, 1, 1), None, result(1, 6, 8, 8))
    return clml.ConvActivationOp(*operands, activation="tanh")


def depthwise_oihw() -> MLOp:
    operands = (value(1, 4, 8, 8), parameter(4, 1, 1, 1), None, result(1, 4, 8, 8))
    return clml.ConvOp(*operands, mode="depthwise")


def norm_below_zero() -> MLOp:
    vectors = [parameter(1, 4, 1, 1)] * 4
    return clml.BatchNormOp(value(1, 4, 8, 8), *vectors, result(1, 4, 8, 8), epsilon=-1)


def ceil() -> MLOp:
    windows = {"kernel": (3, 3), "strides": (2, 2)}
    return clml.PoolOp(value(1, 4, 8, 8), result(1, 4, 4, 4), kind="max", **windows)


def mixed(layout: Layout = Layout.OPTIMAL, element: Attribute = f32) -> MLOp:
    operands = (value(1, 4, 8, 8), value(1, 4, 8, 8, layout=layout, element=element))
    return clml.BinaryOp(*operands, result(1, 4, 8, 8), kind="add")


def vector_softmax() -> MLOp:
    nchw = Layout.NCHW
    return clml.SoftmaxOp(value(1, 4, 1, 1, layout=nchw), result(1, 4, 1, 1, layout=nchw))


def gemm() -> MLOp:
    a, b = (value(*sizes, layout=Layout.NCHW) for sizes in ((2, 4, 1, 1), (1, 1, 4, 3)))
    return clml.GemmOp(a, b, result(3, 2, 1, 1, layout=Layout.NCHW), m=3, n=2, k=4)


PADS = np.array([0, 0, 1, 1, 0, 0, 1, 1])
ROWS: dict[str, Row] = {
    "groups": Row("not with 2 groups", case("y = Conv<group = 2>(x, w)", w=(8, 3, 3, 3)), "groups"),
    "channel multiplier": Row(
        "not with 6 groups of 6 to 12 channels",
        case("y = Conv<group = 6>(x, w)", w=(12, 1, 3, 3)),
        "multiplier",
    ),
    "dilated depthwise 3 x 3": Row(
        "only with relu6 fused",
        case("y = Conv<group = 6, dilations = [2, 2]>(x, w)", w=(6, 1, 3, 3)),
        None,  # a rule of partitioners, for a reason that is not public
    ),
    "depthwise weight": Row("1x4x1x1", depthwise_oihw, "OIHW depthwise"),
    "batch of 2": Row(
        "batch of 1", case("y = Conv(x, w)", {"x": (2, 6, 8, 8)}, w=(4, 6, 3, 3)), "batch"
    ),
    "computed weights": Row(
        "constants", case("y = Conv(x, w)", {**X, "w": (4, 6, 3, 3)}), "no parameter"
    ),
    "output padding": Row(
        "no output_padding",
        case("y = ConvTranspose<strides = [2, 2], output_padding = [1, 0]>(x, w)", w=(6, 4, 3, 3)),
        "output padding",
    ),
    "another fused function": Row("can fuse relu or relu6", fused_tanh, "fused"),
    "epsilon below zero": Row("epsilon must be at least 0", norm_below_zero, "negative epsilon"),
    "pool rounded up": Row("no ceil_mode", ceil, "ceil"),
    "dilated pool": Row(
        "windows have no dilation",
        case("y = MaxPool<kernel_shape = [3, 3], dilations = [1, 2]>(x)"),
        None,  # the descriptor has no member for it
    ),
    "average with padding": Row(
        "pads results of operations in the same graph",
        case(
            "y = AveragePool<kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1>(x)"
        ),
        None,  # there is no mode for it
    ),
    "one bound": Row(
        "clip has two bounds",
        case("y = Clip(x, low)", low=np.array(-1, np.float32)),
        None,  # both values are in the descriptor
    ),
    "no number between": Row(
        "minimum 1.0 must not exceed maximum -1.0",
        lambda: clml.ClipOp(value(1, 4, 8, 8), result(1, 4, 8, 8), minimum=1, maximum=-1),
        "clip",
    ),
    "clip in version 1": Row(
        "needs CLML 2",
        case("y = Clip(x, l, h)", l=np.array(-1, np.float32), h=np.array(1, np.float32)),
        None,  # the table of version 1 has no such member
        version=1,
    ),
    "softmax of the last axis": Row(
        "not over axis 3", case("y = Softmax<axis = 3>(x)"), "softmax of a map"
    ),
    "softmax of a vector in NCHW": Row("optimal", vector_softmax, "softmax of a vector"),
    "broadcast": Row(
        "does not broadcast", case("y = Mul(x, s)", {**X, "s": (1, 6, 1, 1)}), "broadcast"
    ),
    "one tensor twice": Row("two different tensors", case("y = Add(x, x)"), "the same operands"),
    "two layouts": Row(
        "all tensors must have the same layout", lambda: mixed(Layout.NCHW), "layouts"
    ),
    "two types": Row("must have the same element type", lambda: mixed(element=f16), "mixed types"),
    "a size above 32768": Row(
        "1 to 32768",
        case("y = Relu(x)", {"x": (1, 1, 1, 32769)}),
        lambda: Operation("reshape", [], [tensor(1, 1, 1, 32769), tensor(1, 1, 1, 32769)]),
        "32769",
    ),
    "five dimensions": Row(
        "four dimensions, not 5",
        case("y = Relu(x)", {"x": (1, 1, 6, 8, 8)}),
        None,  # the descriptor has four sizes
    ),
    "integers": Row(
        "not i32",
        case("c = Cast<to = 6>(x) n = Neg(c) m = Max(n, c) y = Cast<to = 1>(m)"),
        None,  # see test_core.py
    ),
    "pad of an input": Row(
        "pads results of operations in the same graph",
        case("y = Pad(x, pads)", pads=PADS),
        lambda: Operation(
            "pad",
            pad("CONSTANT", 1, 5).integers,
            [tensor(1, 4, 4, 4, layout="NCHW"), tensor(1, 4, 5, 4, layout="NCHW")],
        ),
        "OPTIMAL",
    ),
    "padded channels": Row(
        "pads H and W",
        case("r = Relu(x) y = Pad(r, pads)", pads=np.array([0, 1, 0, 0, 0, 0, 0, 0])),
        "padded channels",
    ),
    "two elements of an edge": Row(
        "repeats an edge by one element",
        case('r = Relu(x) y = Pad<mode = "edge">(r, pads)', pads=2 * PADS),
        None,  # there is no mode for it
    ),
    "reflection of too much": Row(
        "must be at most 3, not 4",
        lambda: clml.PadOp(
            value(1, 4, 4, 4), result(1, 4, 8, 4), mode="reflect", pads=(4, 0, 0, 0)
        ),
        "reflect",
    ),
    "reshape to more": Row(
        "must keep the number of elements",
        lambda: clml.ReshapeOp(value(1, 4, 8, 8), result(1, 8, 8, 5)),
        "elements",
    ),
    "concatenated rows": Row(
        "not axis 2", case("y = Concat<axis = 2>(x, z)", {**X, "z": (1, 6, 8, 8)}), "axis"
    ),
    "depth to space CRD": Row(
        "the mode dcr, not crd",
        case('y = DepthToSpace<blocksize = 2, mode = "CRD">(x)', {"x": (1, 8, 4, 4)}),
        None,  # there is no mode for it
    ),
    "block of 3": Row(
        "do not divide into blocks",
        lambda: clml.DepthToSpaceOp(value(1, 4, 8, 8), result(1, 4, 8, 8), block=3),
        "block",
    ),
    "half pixels": Row(
        "not half_pixel",
        case('y = Resize<mode = "linear">(x, , s)', s=np.array([1, 1, 2, 2], np.float32)),
        "half-pixel",
    ),
    "weight of a layer": Row(
        "1x1xNx6",
        lambda: clml.FullyConnectedOp(
            value(1, 6, 1, 1), parameter(1, 1, 6, 5), None, result(1, 5, 1, 1)
        ),
        "layer's weight",
    ),
    "sizes of a product": Row("for m = 3, n = 2, k = 4", gemm, "gemm's sizes"),
    "batches of products": Row(
        "not batches of 2",
        case("y = MatMul(a, b)", {"a": (2, 5, 7), "b": (2, 7, 3)}),
        None,  # CLML's product has no sizes but m, n and k
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_refused_when_compiled(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    row = ROWS[name]
    if not isinstance(row.source, Case):
        with pytest.raises(VerifyException) as refusal:
            row.source().verify_()
        assert row.reason in str(refusal.value)
        return
    weights = Weights()
    module = import_onnx(model_of([row.source]), weights)
    target = f"adreno-740 clml_version={row.version}"
    clopt.partition_for("clml", module, target, weights, explain=True)
    lines = capsys.readouterr().err.splitlines()
    assert any(row.reason in line and " kernels " in line for line in lines), lines


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.called is not None])
def test_refused_when_called(name: str, driver: Driver) -> None:
    called, words = ROWS[name].called, ROWS[name].words
    if isinstance(called, str):
        called, words = MISUSES[called]
    assert called is not None
    assert words in driver.refusal(called())
