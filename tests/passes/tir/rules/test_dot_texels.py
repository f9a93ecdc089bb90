"""Any point of the schedules for products of bytes on GPUs computes the sums, word by word."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from clopt.context import CloptContext
from clopt.dialects import cl, tir
from clopt.passes.cl.pack_constants import CLPackConstantsPass
from clopt.passes.nn.choose import NNChoosePass
from clopt.passes.nn.conv_to_matmul import NNConvToMatmulPass
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.passes.tir.form_dots import TIRFormDotsPass
from clopt.passes.tir.lower_blocks import TIRLowerBlocksPass
from clopt.passes.tir.lower_textures import TIRLowerTexturesPass
from clopt.passes.tir.rules import RULES
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.plans import plan_of
from clopt.passes.tir.rules.space import Space
from clopt.targets import load_target
from support.cl.programs import parse
from support.tir import plans
from support.tir.program import run_program

Array = np.ndarray[Any, np.dtype[Any]]

TARGET = load_target("nvidia").with_facts(
    {"compute_units": 2, "preferred_work_group": 8, "launch_microseconds": 0.0}
)
"""Small kernels gain by words, too."""

_CONV = """
func.func @main(%x: tensor<{x}xui8>) -> tensor<{y}xi32> {{
  %w = nn.constant dense<{values}> : tensor<{w}xi8>
  %y = nn.conv %x, %w {{
    strides = array<i64: {s}, {s}>, dilations = array<i64: 1, 1>,
    pads = array<i64: {p}, {p}, {p}, {p}>
  }} : (tensor<{x}xui8>, tensor<{w}xi8>) -> tensor<{y}xi32>
  func.return %y : tensor<{y}xi32>
}}
"""
_MATMUL = """
func.func @main(%x: tensor<{x}xui8>) -> tensor<{y}xi32> {{
  %w = nn.constant dense<{values}> : tensor<{w}xi8>
  %y = nn.matmul %x, %w : (tensor<{x}xui8>, tensor<{w}xi8>) -> tensor<{y}xi32>
  func.return %y : tensor<{y}xi32>
}}
"""
CASES: dict[str, tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...], int, int]] = {
    "padded": (_CONV, (1, 8, 3, 5), (8, 8, 3, 3), (1, 8, 3, 5), 1, 1),
    "steps of two": (_CONV, (2, 8, 5, 7), (4, 8, 3, 3), (2, 4, 3, 4), 2, 1),
    "points": (_CONV, (1, 16, 2, 3), (8, 16, 1, 1), (1, 8, 2, 3), 1, 0),
    "rows": (_MATMUL, (3, 16), (16, 12), (3, 12), 0, 0),
    "one row": (_MATMUL, (1, 32), (32, 8), (1, 8), 0, 0),
}


def expected_of(case: str, x: Array, w: Array) -> Array:
    """The sums, by their definition."""
    _, _, _, y, s, p = CASES[case]
    if x.ndim == 2:
        return x.astype("i4") @ w.astype("i4")
    padded = np.pad(x.astype("i4"), ((0, 0), (0, 0), (p, p), (p, p)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], (2, 3))[:, :, ::s, ::s]
    return np.einsum("nchwij,ocij->nohw", windows, w.astype("i4")).astype("i4").reshape(y)


@pytest.mark.parametrize("rule", ["dot-texels", "dot-parts"])
@pytest.mark.parametrize("case", CASES)
def test_any_point(case: str, rule: str) -> None:
    text, x_shape, w_shape, y_shape, s, p = CASES[case]
    rng = np.random.default_rng(len(case))
    x = rng.integers(0, 256, x_shape).astype("u1")
    w = rng.integers(-128, 128, w_shape).astype("i1")
    x.flat[:4], w.flat[:4] = 255, -128
    shapes = {
        name: "x".join(map(str, shape))
        for name, shape in (("x", x_shape), ("w", w_shape), ("y", y_shape))
    }
    draw = random.Random(case)
    for _ in range(4):
        module = parse(text.format(**shapes, values=w.tolist(), s=s, p=p))
        (y,) = _run(module, x, rule, draw)
        np.testing.assert_array_equal(y, expected_of(case, x, w))


def _run(module: ModuleOp, x: Array, rule: str, draw: random.Random) -> list[Array]:
    """The results of the kernel with a random point of a rule, which multiplies words."""
    cl.set_target(module, TARGET)
    ctx = CloptContext()
    layouts = (NNChoosePass(), NNConvToMatmulPass())
    for step in (*layouts, NNFusePass(), NNToCLPass(), NNToTIRPass()):
        step.apply(ctx, module)

    def plan(func: tir.FuncOp) -> tir.PlanAttr:
        (found,) = (each for each in RULES if each.name == rule)
        space = found.space(NaiveKernel(func), TARGET)
        if not isinstance(space, Space):
            return plans.random_plan(func, TARGET, draw.choice)
        return plan_of(found, plans.random_point(space, draw.choice))

    plans.schedule_module(ctx, module, plan)
    for step in (CLPackConstantsPass(), TIRLowerBlocksPass(), TIRFormDotsPass()):
        step.apply(ctx, module)
        module.verify()
    assert any(isinstance(op, tir.DotOp) for op in module.walk())
    TIRLowerTexturesPass().apply(ctx, module)
    return run_program(module, ctx.weights, [x.view("i1")])
