"""Sums of halves: in float unless the operation says otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import f16
from xdsl.ir import Block
from xdsl.utils.exceptions import VerifyException

from clopt.dialects import nn
from support.tir import harness

rng = np.random.default_rng(3)


def _half_sum(products: np.ndarray) -> np.ndarray:
    """Products along axis 0 added up one after the other, everything rounded to half."""
    total = np.zeros(products.shape[1:], np.float16)
    for product in products:
        total = total + product
    return total


@pytest.mark.parametrize("half", [False, True])
def test_matmul(half: bool) -> None:
    a = rng.standard_normal((3, 200)).astype(np.float16)
    b = rng.standard_normal((200, 4)).astype(np.float16)
    (c,) = harness.evaluate(lambda x, y: nn.MatmulOp(x, y, accumulate_half=half), a, b)
    in_half = _half_sum(a.T[:, :, None] * b[:, None, :])
    exact = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)
    assert (in_half != exact).any()
    np.testing.assert_array_equal(c, in_half if half else exact)


def test_padded_conv() -> None:
    x = rng.standard_normal((1, 2, 4, 5)).astype(np.float16)
    w = rng.standard_normal((3, 2, 3, 3)).astype(np.float16)
    b = rng.standard_normal(3).astype(np.float16)
    (y,) = harness.evaluate(
        lambda *v: nn.ConvOp(*v, pads=(1, 0, 1, 2), accumulate_half=True), x, w, b
    )
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 2)))
    windows = np.lib.stride_tricks.sliding_window_view(padded[0], (3, 3), (1, 2))
    taps = np.moveaxis(windows, (0, 3, 4), (0, 1, 2)).reshape(18, 1, 4, 5)
    total = _half_sum(taps * w.reshape(3, 18).T[:, :, None, None])
    # The bias is added behind the sum, in float.
    expected = total.astype(np.float32) + b.astype(np.float32)[:, None, None]
    np.testing.assert_array_equal(y[0], expected.astype(np.float16))


def test_transposed_conv() -> None:
    x = rng.standard_normal((1, 4, 3)).astype(np.float16)
    w = rng.standard_normal((4, 2, 1)).astype(np.float16)
    (y,) = harness.evaluate(lambda *v: nn.ConvTransposeOp(*v, accumulate_half=True), x, w)
    products = x[0][:, None, :] * w
    np.testing.assert_array_equal(y[0], _half_sum(products))


def test_accumulator_of_floats_is_refused() -> None:
    block = Block(arg_types=[nn.array_type(np.zeros((2, 2), np.float32))])
    with pytest.raises(VerifyException, match="requires f16 operands but got f32"):
        nn.MatmulOp(block.args[0], block.args[0], accumulate_half=True)


def test_property_is_a_type() -> None:
    block = Block(arg_types=[nn.array_type(np.zeros((2, 2), np.float16))])
    op = nn.MatmulOp(block.args[0], block.args[0], accumulate_half=True)
    assert op.accumulate == f16
