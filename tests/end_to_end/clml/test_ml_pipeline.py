"""Calls of CLML graphs on their way through all passes, to a saved model and back."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from clopt import CloptError
from clopt.backends.opencl_c.emit import emit
from clopt.backends.pyopencl_runtime.executable import Executable
from clopt.backends.saved_model import load_model, save_model
from clopt.context import CloptContext
from clopt.dialects import cl, clml, nn
from clopt.passes.pipelines import run_pipeline
from clopt.targets import load_target
from clopt.weights import Weights
from support.cl.ml_programs import parse

TENSOR = "tensor<1x8x16x16xf32>"
PLAIN = "!clml.tensor<1x8x16x16xf32, nchw>"
OPTIMAL = "!clml.tensor<1x8x16x16xf32, optimal>"
FACTORS = "!clml.tensor<1x8x16x16xf32, optimal, parameter>"


def graph(name: str, key: str) -> str:
    return f"""
clml.graph @{name}(%x: {PLAIN}) -> {PLAIN} version 3 arithmetic fp32 {{
  %k = clml.constant "{key}" : {FACTORS}
  %a = clml.copy %x : {PLAIN} -> {OPTIMAL}
  %b = clml.binary mul %a, %k : ({OPTIMAL}, {FACTORS}) -> {OPTIMAL}
  %y = clml.copy %b : {OPTIMAL} -> {PLAIN}
  clml.return %y : {PLAIN}
}}"""


def convolution(pad: int) -> str:
    """Properties of one."""
    pads = ", ".join([str(pad)] * 4)
    ones = "array<i64: 1, 1>"
    return f"{{strides = {ones}, dilations = {ones}, pads = array<i64: {pads}>, groups = 1 : i64}}"


def network(weights: Weights) -> ModuleOp:
    """Kernels of all sorts around two calls, one of whose results is returned."""
    random = np.random.default_rng(0)

    def add(*shape: int) -> str:
        return weights.add(random.standard_normal(shape, np.float32), "w")

    wide, narrow, factors = add(8, 8, 3, 3), add(8, 8, 1, 1), add(1, 8, 16, 16)
    windows, points = "tensor<8x8x3x3xf32>", "tensor<8x8x1x1xf32>"
    return parse(f"""
{graph("g0", factors)}
{graph("g1", factors)}
func.func @main(%x: {TENSOR}) -> ({TENSOR}, {TENSOR}) {{
  %w = nn.constant #nn.weight<"{wide}", "w"> : {windows}
  %v = nn.constant #nn.weight<"{narrow}", "v"> : {points}
  %c = nn.conv %x, %w {convolution(1)} : ({TENSOR}, {windows}) -> {TENSOR}
  %r = nn.unary relu %c : ({TENSOR}) -> {TENSOR}
  %a = clml.call @g0(%r) : ({TENSOR}) -> {TENSOR}
  %d = nn.conv %a, %v {convolution(0)} : ({TENSOR}, {points}) -> {TENSOR}
  %e = nn.binary add %d, %a : ({TENSOR}, {TENSOR}) -> {TENSOR}
  %m = nn.conv %e, %w {convolution(1)} : ({TENSOR}, {windows}) -> {TENSOR}
  %b = clml.call @g1(%m) : ({TENSOR}) -> {TENSOR}
  %z = nn.binary mul %b, %e : ({TENSOR}, {TENSOR}) -> {TENSOR}
  func.return %z, %b : {TENSOR}, {TENSOR}
}}""")


def compiled(target: str, **facts: Any) -> tuple[ModuleOp, Weights]:
    weights = Weights()
    module = network(weights)
    cl.set_target(module, load_target(target).with_facts(facts))
    run_pipeline(CloptContext(weights=weights), module, "opencl")
    return module, weights


@pytest.mark.parametrize("texture", ["auto", "prefer", "off"])
@pytest.mark.parametrize("target", ["pocl", "generic-gpu", "adreno-660"])
def test_calls_stay_plain_whatever_layouts_are_around(target: str, texture: str) -> None:
    weights = Weights()
    module = network(weights)
    graphs = [str(op) for op in module.ops if isinstance(op, clml.GraphOp)]
    cl.set_target(module, load_target(target).with_facts({"texture": texture}))
    ctx = CloptContext(weights=weights)
    for name in ("simplify", "fuse"):
        run_pipeline(ctx, module, name)
    calls = [op for op in module.walk() if isinstance(op, clml.CallOp)]
    assert [call.graph_name for call in calls] == ["g0", "g1"]
    for call in calls:
        assert isinstance(call.parent_op(), func.FuncOp)
        assert not any(map(nn.layout_of, (*call.operands, *call.results)))
    for name in ("lower", "schedule", "memory"):
        run_pipeline(ctx, module, name)
    assert [str(op) for op in module.ops if isinstance(op, clml.GraphOp)] == graphs
    (program,) = (op for op in module.ops if isinstance(op, cl.ProgramOp))
    ops = cl.commands(program)
    assert sum(isinstance(op, cl.EnqueueOffloadOp) for op in ops) == 6
    assert not any(isinstance(op, cl.EnqueueCopyOp) for op in ops)
    arenas = sum(isinstance(op, cl.ArenaOp) for op in program.body.block.ops)
    assert (arenas == 1) == load_target(target).device.sub_buffers
    # Kernels alternate with graphs on the one queue.
    kinds = [isinstance(op, cl.EnqueueOffloadOp) for op in ops]
    assert sum(a != b for a, b in itertools.pairwise(kinds)) == 4


def test_a_saved_model_has_its_graphs_and_their_weights(tmp_path: Path) -> None:
    module, weights = compiled("generic-gpu")
    save_model(tmp_path / "saved", [(module, emit(module))], weights)
    (saved,), stored = load_model(tmp_path / "saved")
    graphs = [op for op in saved.module.ops if isinstance(op, clml.GraphOp)]
    assert [g.sym_name.data for g in graphs] == ["g0", "g1"]
    keys = {op.key.data for g in graphs for op in g.walk() if isinstance(op, clml.ConstantOp)}
    kernels = {op.key.data for op in module.walk() if isinstance(op, cl.ConstantOp)}
    assert keys
    assert not keys & kernels
    assert set(stored.keys()) == keys | kernels
    for key in keys:
        assert (stored.get(key) == weights.get(key)).all()
    program, again = (
        next(op for op in m.ops if isinstance(op, cl.ProgramOp)) for m in (module, saved.module)
    )
    assert str(program) == str(again)


def test_without_the_weights_of_a_graph_nothing_is_saved(tmp_path: Path) -> None:
    module, weights = compiled("generic-gpu")
    kernels = sorted(op.key.data for op in module.walk() if isinstance(op, cl.ConstantOp))
    with pytest.raises(CloptError, match="is not in the store"):
        save_model(tmp_path / "saved", [(module, emit(module))], weights.subset(iter(kernels)))
    assert not list(tmp_path.iterdir())


def test_what_runs_kernels_only_refuses_graphs() -> None:
    module, weights = compiled("generic-gpu")
    with pytest.raises(CloptError, match="@main has commands that need a C library"):
        Executable(module, weights)
