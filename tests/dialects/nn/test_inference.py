"""The shape rules of nn against onnx.shape_inference and numpy on random shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.test import TestOp
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from clopt.dialects import nn
from support import effort

Shape = tuple[int, ...]
SETTINGS = settings(max_examples=effort.examples(60))


def _values(*shapes: Shape) -> tuple[SSAValue, ...]:
    return tuple(TestOp(result_types=[TensorType(f32, s) for s in shapes]).results)


def _onnx_shape(op_type: str, shapes: list[Shape], **attributes: Any) -> Shape | None:
    """The shape that ONNX infers; None where it refuses."""
    names = [f"x{i}" for i in range(len(shapes))]
    graph = helper.make_graph(
        [helper.make_node(op_type, names, ["y"], **attributes)],
        "one",
        [
            helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
            for n, s in zip(names, shapes, strict=True)
        ],
        [onnx.ValueInfoProto(name="y")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)])
    try:
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    except onnx.shape_inference.InferenceError:
        return None
    return tuple(d.dim_value for d in inferred.graph.output[0].type.tensor_type.shape.dim)


def _small(low: int, high: int, n: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(low, high), min_size=n, max_size=n)


@st.composite
def _windows(draw: st.DrawFn) -> dict[str, Any]:
    rank = draw(st.integers(1, 3))
    return {
        "spatial": draw(_small(1, 12, rank)),
        "kernel": draw(_small(1, 4, rank)),
        "strides": draw(_small(1, 3, rank)),
        "dilations": draw(_small(1, 3, rank)),
        "pads": draw(_small(0, 3, 2 * rank)),
    }


def _fits(spatial: list[int], kernel: list[int], window: dict[str, Any]) -> bool:
    """Whether the window lies within the padded input, without which ONNX's sizes mean nothing."""
    dilations, pads, rank = window["dilations"], window["pads"], len(spatial)
    return all(
        nn.extent(k, d) <= n + pads[i] + pads[i + rank]
        for i, (n, k, d) in enumerate(zip(spatial, kernel, dilations, strict=True))
    )


@SETTINGS
@given(_windows(), st.integers(1, 3), st.integers(1, 2), st.integers(1, 2))
def test_conv(window: dict[str, Any], groups: int, c: int, o: int) -> None:
    spatial, kernel = window.pop("spatial"), window.pop("kernel")
    x, w = (2, c * groups, *spatial), (o * groups, c, *kernel)
    expected = _onnx_shape("Conv", [x, w], group=groups, **window)
    try:
        shape = nn.shape_of(nn.ConvOp(*_values(x, w), groups=groups, **window).result)
    except VerifyException:
        assert not _fits(spatial, kernel, window)
        return
    assert shape == expected


@SETTINGS
@given(_windows(), st.integers(1, 3), st.data())
def test_conv_transpose(window: dict[str, Any], groups: int, data: st.DataObject) -> None:
    spatial, kernel = window.pop("spatial"), window.pop("kernel")
    window["output_padding"] = data.draw(_small(0, 2, len(spatial)))
    x, w = (2, 2 * groups, *spatial), (2 * groups, 3, *kernel)
    expected = _onnx_shape("ConvTranspose", [x, w], group=groups, **window)
    try:
        shape = nn.shape_of(nn.ConvTransposeOp(*_values(x, w), groups=groups, **window).result)
    except VerifyException:
        assert expected is None or min(expected) <= 0
        return
    assert shape == expected


@SETTINGS
@given(_windows(), st.booleans(), st.sampled_from(["max", "average"]))
def test_pool(window: dict[str, Any], ceil: bool, kind: str) -> None:
    spatial, kernel = window.pop("spatial"), window.pop("kernel")
    x = (2, 3, *spatial)
    name = {"max": "MaxPool", "average": "AveragePool"}[kind]
    expected = _onnx_shape(name, [x], kernel_shape=kernel, ceil_mode=int(ceil), **window)
    try:
        op = nn.PoolOp(*_values(x), kind, kernel, ceil_mode=ceil, **window)
    except VerifyException as error:
        refusal = str(error)
    else:
        assert nn.shape_of(op.result) == expected
        return
    assert "exceeds the window" in refusal or not _fits(spatial, kernel, window)


_SHAPES = st.lists(st.integers(0, 5), max_size=4).map(tuple)


@SETTINGS
@given(_SHAPES, _SHAPES)
def test_broadcast(a: Shape, b: Shape) -> None:
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        expected = None
    try:
        shape = nn.shape_of(nn.BinaryOp(*_values(a, b), "add").result)
    except VerifyException:
        shape = None
    assert shape == expected


@SETTINGS
@given(st.data())
def test_matmul(data: st.DataObject) -> None:
    m, k, n = data.draw(_small(1, 5, 3))
    a = (*data.draw(st.sampled_from([(), (2,), (1, 3), (2, 1)])), m, k)
    b = (*data.draw(st.sampled_from([(), (2,), (3,), (2, 3)])), k, n)
    expected = _onnx_shape("MatMul", [a, b])
    try:
        shape = nn.shape_of(nn.MatmulOp(*_values(a, b)).result)
    except VerifyException:
        shape = None
    assert shape == expected


@SETTINGS
@given(_SHAPES, st.data())
def test_slice_like_python(shape: Shape, data: st.DataObject) -> None:
    """Any Python slice, resolved by `range`, is a legal nn.slice of the same size."""
    bound = st.none() | st.integers(-7, 7)
    step = st.integers(-3, 3).filter(bool)
    slices = [slice(data.draw(bound), data.draw(bound), data.draw(step)) for _ in shape]
    ranges = [range(*s.indices(n)) for s, n in zip(slices, shape, strict=True)]
    op = nn.SliceOp(
        *_values(shape),
        [r.start for r in ranges],
        [len(r) for r in ranges],
        [r.step for r in ranges],
    )
    op.verify()
    assert nn.shape_of(op.result) == np.zeros(shape)[tuple(slices)].shape


@SETTINGS
@given(_SHAPES, st.data())
def test_movement_like_numpy(shape: Shape, data: st.DataObject) -> None:
    rank = len(shape)
    x = np.zeros(shape)
    perm = data.draw(st.permutations(range(rank)))
    assert nn.shape_of(nn.TransposeOp(*_values(shape), perm).result) == x.transpose(perm).shape
    repeats = data.draw(_small(0, 3, rank))
    assert nn.shape_of(nn.TileOp(*_values(shape), repeats).result) == np.tile(x, repeats).shape
    low, high = data.draw(_small(0, 3, rank)), data.draw(_small(0, 3, rank))
    padded = np.pad(x, list(zip(low, high, strict=True))) if rank else x
    assert nn.shape_of(nn.PadOp(*_values(shape), low, high).result) == padded.shape
    axes = [i for i in range(rank) if data.draw(st.booleans())]
    keep = data.draw(st.booleans())
    reduced = nn.ReduceOp(*_values(shape), "sum", axes, keepdims=keep)
    assert nn.shape_of(reduced.result) == np.sum(x, axis=tuple(axes), keepdims=keep).shape


@SETTINGS
@given(st.data())
def test_indexing(data: st.DataObject) -> None:
    x = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    at = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    (value,) = _values(x)
    (indices,) = TestOp(result_types=[nn.array_type(np.zeros(at, np.int64))]).results
    axis = data.draw(st.integers(0, len(x) - 1))
    gathered = nn.GatherOp(value, indices, axis)
    expected = np.take(np.zeros(x), np.zeros(at, np.int64), axis).shape
    assert nn.shape_of(gathered.result) == expected
    if at[-1] <= len(x):
        picked = np.zeros(x)[tuple(np.zeros(at, np.int64)[..., i] for i in range(at[-1]))]
        assert nn.shape_of(nn.GatherNDOp(value, indices).result) == picked.shape
