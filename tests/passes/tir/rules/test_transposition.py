"""Transpositions on CPUs move tiles, so that each line of the operand is read once."""

from __future__ import annotations

import re
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

import clopt
from clopt.context import CloptContext
from clopt.dialects import cl, tir
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.passes.tir.lower_blocks import TIRLowerBlocksPass
from clopt.passes.tir.rules.plans import plan_of
from clopt.targets import load_target
from support import effort
from support.drawing import pick
from support.onnx.models import model
from support.tir import plans
from support.tir.program import run_program


def compiled(shape: tuple[int, ...], body: str, device: str | None = None) -> clopt.CompiledModel:
    sizes = ",".join(map(str, shape))
    graph = model(f"float[{sizes}] x", body, constants={"b": np.float32(0.5)})
    return clopt.compile(graph, None if device else "pocl", device=device, use_cache=False)


TRANSPOSED = "t = Transpose<perm=[{}]>(x) y = Add(t, b)"

ROWS = {
    "matrix": ((64, 48), (1, 0), "cpu-transposition"),
    "channels last": ((1, 24, 9, 9), (0, 2, 3, 1), "cpu-transposition"),
    "channels first": ((2, 9, 9, 24), (0, 3, 1, 2), "cpu-transposition"),
    "heads": ((48, 3, 32), (1, 0, 2), "cpu-elementwise"),
    "short rows": ((64, 3), (1, 0), "cpu-elementwise"),
    "few rows": ((3, 64), (1, 0), "cpu-elementwise"),
    "short steps": ((64, 8), (1, 0), "cpu-elementwise"),
}
"""A step of less than a line of 16 elements reads lines in order without tiles, too."""


@pytest.mark.parametrize("name", ROWS)
def test_operands_that_are_read_across_their_rows(name: str) -> None:
    shape, perm, rule = ROWS[name]
    text = str(compiled(shape, TRANSPOSED.format(",".join(map(str, perm)))).module)
    assert re.findall(r'tir.plan<"([\w-]+)"', text) == [rule]


def test_a_tile_takes_whole_lines_before_the_next_ones() -> None:
    """Sixteen rows of the result, each a vector, need the elements of eight lines."""
    source = compiled((512, 512), TRANSPOSED.format("1,0")).source
    loops = re.findall(r"for \(int (\w+) = 0; \1 < (\d+)", source)
    assert [size for _, size in loops] == ["4", "16"]
    inner = loops[-1][0]
    assert re.search(rf"const int at = .* \+ {inner};", source), "rows are contiguous in x"


@pytest.mark.usefixtures("quick_builds")
@given(st.lists(st.integers(1, 40), min_size=2, max_size=4), st.data())
@settings(max_examples=effort.examples(4))
def test_transposed(device: str, sizes: list[int], data: st.DataObject) -> None:
    """Tiles that do not fit overlap."""
    perm = data.draw(st.permutations(range(len(sizes))))
    shape = tuple(sizes)
    x = np.arange(prod(shape), dtype=np.float32).reshape(shape)
    found = compiled(shape, TRANSPOSED.format(",".join(map(str, perm))), device).run([x])[0]
    np.testing.assert_array_equal(found, x.transpose(perm) + np.float32(0.5))


CASES = [((20, 33), (1, 0)), ((2, 20, 18), (0, 2, 1)), ((5, 4, 17), (2, 0, 1))]


@given(st.sampled_from(CASES), st.data())
@settings(max_examples=effort.examples(4))
def test_any_tile(case: tuple[tuple[int, ...], tuple[int, ...]], data: st.DataObject) -> None:
    """Each point of the rule's space transposes."""
    shape, perm = case
    types = ("x".join(map(str, sizes)) for sizes in (shape, [shape[i] for i in perm]))
    x_type, y_type = (f"tensor<{sizes}xf32>" for sizes in types)
    axes = ", ".join(map(str, perm))
    ctx, target = CloptContext(), load_target("pocl")
    module = Parser(
        ctx,
        f"""func.func @main(%x: {x_type}) -> {y_type} {{
          %y = nn.transpose %x {{perm = array<i64: {axes}>}} : ({x_type}) -> {y_type}
          func.return %y : {y_type}
        }}""",
    ).parse_module()
    cl.set_target(module, target)
    for step in (NNFusePass(), NNToCLPass(), NNToTIRPass()):
        step.apply(ctx, module)

    def any_point(func: tir.FuncOp) -> tir.PlanAttr:
        spaces = plans.every_space(func, target)
        ((rule, space),) = [each for each in spaces if each[0].name == "cpu-transposition"]
        return plan_of(rule, plans.random_point(space, lambda values: pick(data, values)))

    plans.schedule_module(ctx, module, any_point)
    TIRLowerBlocksPass().apply(ctx, module)
    module.verify()
    x = np.arange(prod(shape), dtype=np.float32).reshape(shape)
    (found,) = run_program(module, ctx.weights, [x])
    np.testing.assert_array_equal(found, x.transpose(perm))
