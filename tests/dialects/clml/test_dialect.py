"""The clml dialect from Python: sizes, memory and refusals of operations without a graph."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f16, f32
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from clopt.dialects import clml, nn
from clopt.dialects.clml import Layout, MLTensorType, Usage


def value(type_: Attribute) -> SSAValue:
    return TestOp(result_types=[type_]).results[0]


def feature_map(*sizes: int, layout: Layout = Layout.OPTIMAL) -> SSAValue:
    return value(MLTensorType(sizes, f32, layout))


def parameter(*sizes: int) -> SSAValue:
    return value(MLTensorType(sizes, f32, usage=Usage.PARAMETER))


def plain(*sizes: int) -> SSAValue:
    return value(TensorType(f32, sizes))


def window(rng: np.random.Generator) -> dict[str, tuple[int, ...]]:
    def draw(low: int, high: int, count: int) -> tuple[int, ...]:
        return tuple(int(n) for n in rng.integers(low, high, count))

    return {"strides": draw(1, 4, 2), "dilations": draw(1, 3, 2), "pads": draw(0, 3, 4)}


def sizes_by_nn(make: type[nn.NNOp], *operands: SSAValue, **properties: object) -> tuple[int, ...]:
    """The result's sizes by the shape rule of an nn operation; none where it refuses."""
    try:
        return nn.shape_of(make(*operands, **properties).results[0])
    except VerifyException:
        return ()


def accepts(make: type[clml.MLOp], *operands: object, sizes: tuple[int, ...], **properties: object):
    """Whether CLML has an operation with a result of these sizes."""
    try:
        make(*operands, MLTensorType(sizes, f32), **properties).verify_()
    except VerifyException:
        return False
    return True


@pytest.mark.parametrize("mode", ["convolution", "depthwise", "transpose"])
def test_sizes_of_convolutions_are_those_of_nn(mode: str):
    rng = np.random.default_rng(7)
    accepted = 0
    for _ in range(150):
        given = window(rng)
        h, w, kh, kw = (int(n) for n in rng.integers(1, 9, 4))
        if mode == "depthwise" and (kh, kw) == (3, 3):
            given["dilations"] = (1, 1)
        weight = {"convolution": (4, 6), "depthwise": (6, 1), "transpose": (6, 4)}[mode]
        make = nn.ConvTransposeOp if mode == "transpose" else nn.ConvOp
        groups = 6 if mode == "depthwise" else 1
        x, w_ = plain(1, 6, h, w), plain(*weight, kh, kw)
        expected = sizes_by_nn(make, x, w_, **given, groups=groups)

        ours = parameter(*((1, 6) if mode == "depthwise" else (4, 6)), kh, kw)
        operands = (feature_map(1, 6, h, w), ours, None)
        sizes = expected or (1, 6 if mode == "depthwise" else 4, 1, 1)
        result = accepts(clml.ConvOp, *operands, sizes=sizes, mode=mode, **given)
        assert result == bool(expected), (given, h, w, kh, kw)
        longer = (*sizes[:3], sizes[3] + 1)
        assert not accepts(clml.ConvOp, *operands, sizes=longer, mode=mode, **given)
        accepted += result
    assert 30 < accepted < 150


@pytest.mark.parametrize("kind", ["max", "average"])
def test_sizes_of_pooling_are_those_of_nn(kind: str):
    rng = np.random.default_rng(8)
    accepted = rounded_up = 0
    for _ in range(150):
        given = window(rng)
        del given["dilations"]
        h, w, kh, kw = (int(n) for n in rng.integers(1, 9, 4))
        x = plain(1, 6, h, w)
        down = sizes_by_nn(nn.PoolOp, x, kind=kind, kernel=(kh, kw), **given)
        up = sizes_by_nn(nn.PoolOp, x, kind=kind, kernel=(kh, kw), ceil_mode=True, **given)
        properties = {"kind": kind, "kernel": (kh, kw), **given}
        ours = feature_map(1, 6, h, w)
        result = accepts(clml.PoolOp, ours, sizes=down or (1, 6, 1, 1), **properties)
        assert result == bool(down), (given, h, w, kh, kw)
        accepted += result
        if up != down:
            rounded_up += 1
            assert not accepts(clml.PoolOp, ours, sizes=up, **properties)
    assert 30 < accepted < 150
    assert rounded_up > 10


def test_planned_memory():
    # Four channels in a block: 2 blocks of 5 rows; a row of 7 * 4 floats is 112 bytes, padded 128.
    assert MLTensorType((1, 6, 5, 7), f32).planned_bytes == 2 * 5 * 128
    assert MLTensorType((3, 6, 5, 7), f32).planned_bytes == 3 * 2 * 5 * 128
    # A row of 7 * 4 halves is 56 bytes, padded 64; one of 8 * 4 has 64.
    assert MLTensorType((1, 8, 5, 7), f16).planned_bytes == 2 * 5 * 64
    assert MLTensorType((1, 8, 5, 8), f16).planned_bytes == 2 * 5 * 64
    for layout in (Layout.NCHW, Layout.NHWC):
        assert MLTensorType((1, 6, 5, 7), f32, layout).planned_bytes == 6 * 5 * 7 * 4
        assert MLTensorType((2, 6, 5, 7), f16, layout).planned_bytes == 2 * 6 * 5 * 7 * 2


def test_commands_are_numbered_without_constants():
    block = Block(arg_types=[MLTensorType((1, 8, 1, 1), f32, Layout.NCHW)])
    inside = clml.CopyOp(block.args[0], MLTensorType((1, 8, 1, 1), f32))
    weight = clml.ConstantOp("w", MLTensorType((1, 1, 5, 8), f32, usage=Usage.PARAMETER))
    result = MLTensorType((1, 5, 1, 1), f32)
    product = clml.FullyConnectedOp(inside.result, weight.result, None, result)
    outside = clml.CopyOp(product.result, MLTensorType((1, 5, 1, 1), f32, Layout.NCHW))
    block.add_ops([inside, weight, product, outside, clml.ReturnOp([outside.result])])
    graph = clml.GraphOp("g", 3, "fp32", Region(block))
    graph.verify()
    assert graph.commands == [inside, product, outside]
    assert graph.inputs == (block.args[0],)
    assert graph.outputs == (outside.result,)
    assert (graph.version, graph.arithmetic_mode) == (3, clml.Arithmetic.FP32)


def test_layouts_that_a_softmax_takes():
    assert clml.SoftmaxOp.accepted_layouts((1, 1000, 1, 1)) == (Layout.OPTIMAL,)
    assert clml.SoftmaxOp.accepted_layouts((1, 21, 65, 65)) == (Layout.NCHW,)
    assert clml.BinaryOp.accepted_layouts((1, 21, 65, 65))[0] is Layout.OPTIMAL


def test_an_operand_of_another_type_is_refused_before_the_rules():
    op = clml.ActivationOp(plain(1, 8, 6, 6), MLTensorType((1, 8, 6, 6), f32), activation="relu")
    with pytest.raises(VerifyException, match=r"clml\.tensor"):
        op.verify_()
