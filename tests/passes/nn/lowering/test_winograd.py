"""Winograd's transforms agree with numpy, and with a product between them they convolve."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from xdsl.ir import Block

from clopt.dialects import nn
from clopt.dialects.nn.evaluation import evaluate
from clopt.dialects.nn.winograd import TRANSFORMS, Transform
from clopt.passes.nn.winograd import transformed_weights
from support.tir import harness

rng = np.random.default_rng(11)

# n, c, h, w, o, pads: odd sizes, tiles that reach over the edge, uneven pads, one row, batches.
CASES = [
    (1, 2, 8, 8, 3, (0, 0, 0, 0)),
    (1, 3, 7, 7, 2, (1, 1, 1, 1)),
    (4, 2, 5, 9, 3, (1, 1, 1, 1)),
    (2, 3, 13, 6, 5, (0, 2, 1, 0)),
    (1, 2, 1, 11, 2, (1, 1, 1, 1)),
    (1, 1, 1, 1, 1, (1, 1, 1, 1)),
]


def _convolved(x: np.ndarray, w: np.ndarray, pads: tuple[int, ...]) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w)


@pytest.mark.parametrize("transform", TRANSFORMS.values())
def test_products_of_steps_are_the_matrices(transform: Transform) -> None:
    pairs = ((transform.input_steps, transform.input), (transform.output_steps, transform.output))
    for steps, matrix in pairs:
        np.testing.assert_array_equal(reduce(np.matmul, map(np.array, steps)), matrix)


@pytest.mark.parametrize("tile", [2, 4])
@pytest.mark.parametrize(
    ("case", "in_steps"), [*((case, False) for case in CASES), (CASES[1], True), (CASES[3], True)]
)
def test_transforms_around_a_product(case: tuple, tile: int, in_steps: bool) -> None:
    n, c, h, w, o, pads = case
    x = rng.standard_normal((n, c, h, w))
    weights = rng.standard_normal((o, c, 3, 3))
    expected = _convolved(x, weights, pads)
    (v,) = harness.evaluate(lambda a: nn.WinogradInputOp(a, tile, pads, in_steps=in_steps), x)
    block = Block(arg_types=[nn.array_type(x)])
    (defined,) = evaluate(nn.WinogradInputOp(block.args[0], tile, pads), [x]) or ()
    np.testing.assert_allclose(v, defined, atol=1e-12)
    changed = transformed_weights(weights, tile)
    (m,) = harness.evaluate(nn.WinogradProductOp, v, changed)
    block = Block(arg_types=[nn.array_type(a) for a in (v, changed)])
    (defined,) = evaluate(nn.WinogradProductOp(*block.args), [v, changed]) or ()
    np.testing.assert_allclose(m, defined, atol=1e-11)
    sizes = (n, *expected.shape[2:])
    (y,) = harness.evaluate(lambda a: nn.WinogradOutputOp(a, tile, sizes, in_steps=in_steps), m)
    np.testing.assert_allclose(y, expected, atol=1e-11)
    block = Block(arg_types=[nn.array_type(m)])
    (defined,) = evaluate(nn.WinogradOutputOp(block.args[0], tile, sizes), [m]) or ()
    np.testing.assert_allclose(defined, expected, atol=1e-11)


@pytest.mark.parametrize("tile", [2, 4])
@pytest.mark.parametrize("case", CASES)
def test_convolution_in_one_kernel(case: tuple, tile: int) -> None:
    n, c, h, w, o, pads = case
    x, bias = rng.standard_normal((n, c, h, w)), rng.standard_normal(o)
    weights = rng.standard_normal((o, c, 3, 3))
    operands = [x, transformed_weights(weights, tile).transpose(1, 0, 2), bias]
    expected = _convolved(x, weights, pads) + bias[:, None, None]
    (y,) = harness.evaluate(lambda *v: nn.WinogradConvOp(*v, tile, pads), *operands)
    np.testing.assert_allclose(y, expected, atol=1e-11)
    block = Block(arg_types=[nn.array_type(v) for v in operands])
    (defined,) = evaluate(nn.WinogradConvOp(*block.args, tile, pads), operands) or ()
    np.testing.assert_allclose(defined, expected, atol=1e-11)


@pytest.mark.parametrize("tile", [2, 4])
def test_epilogue_and_placement(tile: int) -> None:
    """Bias, activation and the border of the next convolution are part of the output transform."""
    m = rng.standard_normal(((tile + 2) ** 2, 3, -(-6 // tile) * -(-5 // tile)))
    bias = rng.standard_normal((3, 1, 1))

    def build(a, b):
        y = nn.WinogradOutputOp(a, tile, (1, 6, 5))
        z = nn.BinaryOp(y.result, b, "add")
        r = nn.UnaryOp(z.result, "relu")
        return [y, z, r, nn.PadOp(r.result, (0, 0, 1, 1), (0, 0, 1, 2))]

    (y,) = harness.evaluate(build, m, bias)
    block = Block(arg_types=[nn.array_type(m)])
    (plain,) = evaluate(nn.WinogradOutputOp(block.args[0], tile, (1, 6, 5)), [m]) or ()
    expected = np.pad(np.maximum(plain + bias, 0), ((0, 0), (0, 0), (1, 1), (1, 2)))
    np.testing.assert_allclose(y, expected, atol=1e-12)
