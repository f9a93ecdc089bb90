"""Long sums of halves: parts in half, their sum in float or in half, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.parser import Parser
from xdsl.passes import PassPipeline

from clopt.context import CloptContext
from clopt.dialects.cl import Target, set_target
from clopt.passes.pipelines import FUSE, LOWER, SCHEDULE
from clopt.targets import load_target
from support.tir.program import run_program

HALVES = load_target("adreno-740").with_facts({"texture": "off"})
TARGETS = {
    "cpu": load_target("generic").with_facts({"fp16": True}),
    "gpu": HALVES.with_facts({"half_totals": False}),
    "gpu, totals in half": HALVES,
}
rng = np.random.default_rng(5)


def _run(text: str, target: Target, *inputs: np.ndarray) -> np.ndarray:
    ctx = CloptContext()
    module = Parser(ctx, text).parse_module()
    set_target(module, target)
    PassPipeline((*FUSE, *LOWER, *SCHEDULE)).apply(ctx, module)
    assert "_total" in str(module)
    (result,) = run_program(module, ctx.weights, inputs)
    return result


def _sum_in_parts(products: np.ndarray, size: int, target: Target) -> np.ndarray:
    """Products along axis 0: `size` at a time in half, the parts in float or in half."""
    total = np.zeros(products.shape[1:], np.float16 if target.compiler.half_totals else np.float32)
    for start in range(0, len(products), size):
        part = np.zeros(products.shape[1:], np.float16)
        for product in products[start : start + size]:
            part = part + product
        total = total + part
    return total


@pytest.mark.parametrize(("kind", "size"), list(zip(TARGETS, (10, 10, 25), strict=True)))
def test_matmul(kind: str, size: int) -> None:
    """Of 100 products 10 or 25 at a time: a divisor of 100."""
    text = """
    func.func @main(%a: tensor<8x100xf16>, %b: tensor<100x16xf16>) -> tensor<8x16xf16> {
      %c = "nn.matmul"(%a, %b) <{accumulate = f16}>
        : (tensor<8x100xf16>, tensor<100x16xf16>) -> tensor<8x16xf16>
      func.return %c : tensor<8x16xf16>
    }
    """
    a = rng.standard_normal((8, 100)).astype(np.float16)
    b = rng.standard_normal((100, 16)).astype(np.float16)
    parts = a.T[:, :, None] * b[:, None, :]
    expected = _sum_in_parts(parts, size, TARGETS[kind]).astype(np.float16)
    np.testing.assert_array_equal(_run(text, TARGETS[kind], a, b), expected)


def test_matmul_in_local_memory() -> None:
    text = """
    func.func @main(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>) -> tensor<64x64xf16> {
      %c = "nn.matmul"(%a, %b) <{accumulate = f16}>
        : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
      func.return %c : tensor<64x64xf16>
    }
    """
    a = rng.standard_normal((64, 64)).astype(np.float16)
    b = rng.standard_normal((64, 64)).astype(np.float16)
    target = TARGETS["gpu"]
    expected = _sum_in_parts(a.T[:, :, None] * b[:, None, :], 16, target).astype(np.float16)
    np.testing.assert_array_equal(_run(text, target, a, b), expected)


@pytest.mark.parametrize(("kind", "size"), list(zip(TARGETS, (9, 9, 18), strict=True)))
def test_conv(kind: str, size: int) -> None:
    """A channel of a 3x3 window is 9 products; the sum goes on in float, bias and all."""
    text = """
    func.func @main(%x: tensor<1x10x9x9xf16>, %w: tensor<6x10x3x3xf16>, %b: tensor<6xf16>)
        -> tensor<1x6x7x7xf32> {
      %y = "nn.conv"(%x, %w, %b) <{strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
        pads = array<i64: 0, 0, 0, 0>, groups = 1 : i64, accumulate = f16}>
        : (tensor<1x10x9x9xf16>, tensor<6x10x3x3xf16>, tensor<6xf16>) -> tensor<1x6x7x7xf16>
      %z = nn.cast %y {to = f32} : (tensor<1x6x7x7xf16>) -> tensor<1x6x7x7xf32>
      func.return %z : tensor<1x6x7x7xf32>
    }
    """
    x = rng.standard_normal((1, 10, 9, 9)).astype(np.float16)
    w = rng.standard_normal((6, 10, 3, 3)).astype(np.float16)
    b = rng.standard_normal(6).astype(np.float16)
    windows = np.lib.stride_tricks.sliding_window_view(x[0], (3, 3), (1, 2))
    taps = np.moveaxis(windows, (0, 3, 4), (0, 1, 2)).reshape(90, 1, 7, 7)
    total = _sum_in_parts(taps * w.reshape(6, 90).T[:, :, None, None], size, TARGETS[kind])
    expected = total + b.astype(np.float32)[:, None, None]
    np.testing.assert_array_equal(_run(text, TARGETS[kind], x, w, b)[0], expected)


def test_many_sums_go_on_in_float() -> None:
    """Of 80 sums of 35 products the last would lose bits of a total in half."""
    text = """
    func.func @main(%a: tensor<1x2800xf16>, %b: tensor<2800x4xf16>) -> tensor<1x4xf16> {
      %c = "nn.matmul"(%a, %b) <{accumulate = f16}>
        : (tensor<1x2800xf16>, tensor<2800x4xf16>) -> tensor<1x4xf16>
      func.return %c : tensor<1x4xf16>
    }
    """
    a = rng.random((1, 2800)).astype(np.float16)
    b = rng.random((2800, 4)).astype(np.float16)
    exact = a.astype(np.float64) @ b
    got = _run(text, HALVES, a, b)
    assert np.abs(got - exact).max() <= 36 * 2.0**-11 * exact.max()
