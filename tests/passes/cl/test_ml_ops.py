"""Programs of kernels and CLML graphs: their order, their memory, and their graphs."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from clopt.context import CloptContext
from clopt.dialects import cl, clml, tir
from clopt.passes.cl.plan_memory import CLPlanMemoryPass
from clopt.passes.cl.reorder import CLReorderPass
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.reports.memory import memory_report
from clopt.reports.memory.summary import summary
from support import effort
from support.cl.ml_programs import FACTORS, OPTIMAL, PLAIN, TENSOR, Machine, parse, random_network

LOWER = (NNFusePass(), NNToCLPass(), NNToTIRPass())
PLAN = (CLReorderPass(), CLPlanMemoryPass())

# Two graphs with a kernel between them, which takes the result of one and feeds the other.
CHAIN = f"""
clml.graph @g0(%x: {PLAIN}) -> {PLAIN} version 3 arithmetic fp32 {{
  %k = clml.constant "w_0123456789abcdef" : {FACTORS}
  %a = clml.copy %x : {PLAIN} -> {OPTIMAL}
  %b = clml.binary mul %a, %k : ({OPTIMAL}, {FACTORS}) -> {OPTIMAL}
  %y = clml.copy %b : {OPTIMAL} -> {PLAIN}
  clml.return %y : {PLAIN}
}}
clml.graph @g1(%x: {PLAIN}) -> {PLAIN} version 3 arithmetic fp32 {{
  %k = clml.constant "w_0123456789abcdef" : {FACTORS}
  %a = clml.copy %x : {PLAIN} -> {OPTIMAL}
  %b = clml.binary add %a, %k : ({OPTIMAL}, {FACTORS}) -> {OPTIMAL}
  %y = clml.copy %b : {OPTIMAL} -> {PLAIN}
  clml.return %y : {PLAIN}
}}
func.func @main(%x: {TENSOR}) -> {TENSOR} {{
  %y = clml.call @g0(%x) : ({TENSOR}) -> {TENSOR}
  %s = nn.softmax %y {{axis = 1 : i64}} : ({TENSOR}) -> {TENSOR}
  %z = clml.call @g1(%s) : ({TENSOR}) -> {TENSOR}
  func.return %z : {TENSOR}
}}
"""


def apply(module: ModuleOp, *passes: Any) -> ModuleOp:
    ctx = CloptContext()
    for pass_ in passes:
        pass_.apply(ctx, module)
        module.verify()
    return module


def program_of(module: ModuleOp) -> cl.ProgramOp:
    return next(op for op in module.ops if isinstance(op, cl.ProgramOp))


def outputs(module: ModuleOp, numbers: dict[Any, int]) -> Any:
    return Machine(module, numbers).run()


def allow_in_place(module: ModuleOp) -> None:
    """Let every kernel write its result over any operand of the same type."""
    for kernel in module.ops:
        if isinstance(kernel, tir.FuncOp):
            (output,) = kernel.output_indices
            pairs = [
                (i, output)
                for i, param in enumerate(kernel.params)
                if i != output and param.type == kernel.params[output].type
            ]
            kernel.in_place = tir.in_place_attribute(pairs)


@settings(max_examples=effort.examples(10))
@given(st.randoms(use_true_random=False))
@pytest.mark.by_default(cases=1)
def test_networks_compute_the_same_in_every_order_and_at_every_place(random: Random):
    module = apply(random_network(random), *LOWER)
    allow_in_place(module)
    numbers: dict[Any, int] = {}
    expected = outputs(module, numbers)
    assert all(number >= 0 for seen in expected for number, _ in seen)
    reordered = apply(module.clone(), CLReorderPass())
    assert outputs(reordered, numbers) == expected
    assert outputs(apply(module.clone(), *PLAN), numbers) == expected
    planned = program_of(apply(reordered, CLPlanMemoryPass()))
    assert not any(isinstance(op, cl.AllocOp) for op in planned.body.block.ops)
    values = cl.lifetimes(planned)
    parts = cl.parts(planned)
    for (a, one), (b, two) in combinations(values.items(), 2):
        if cl.extent(a, parts[a]).overlaps(cl.extent(b, parts[b])):
            first, second = (one, two) if one.first <= two.first else (two, one)
            # At most one launch has both, which computes in place; no command of a graph does.
            launch = cl.commands(planned)[second.first]
            assert first.last < second.first or (
                first.last == second.first and isinstance(launch, cl.EnqueueKernelOp)
            )
    report = memory_report(planned, cl.target_of(reordered))
    assert report.ratio <= 1.1


def test_nothing_is_copied_between_kernels_and_graphs() -> None:
    module = apply(parse(CHAIN), *LOWER)
    program = program_of(module)
    ops = cl.commands(program)
    assert [op.name for op in ops] == [
        *["cl.enqueue_offload"] * 3,
        "cl.enqueue_kernel",
        *["cl.enqueue_offload"] * 3,
    ]
    graphs = cl.graphs_in(program)
    copies = [
        op
        for op in ops
        if isinstance(op, cl.EnqueueOffloadOp)
        and isinstance(graphs[op.graph_name].commands[op.index], clml.CopyOp)
    ]
    # One for each tensor at a boundary, and those are the graphs' own.
    assert len(copies) == 4
    x, y = program.body.block.args
    assert ops[0].operands[0] is x
    assert ops[2].operands[-1] is ops[3].operands[0]
    assert ops[3].operands[-1] is ops[4].operands[0]
    assert ops[6].operands[-1] is y


def test_the_arena_is_what_is_live_at_once() -> None:
    module = apply(parse(CHAIN), *LOWER, *PLAN)
    report = memory_report(program_of(module), cl.target_of(module))
    plain = optimal = 8 * 4 * 4 * 4
    assert report.live == (
        optimal,
        2 * optimal,
        optimal + plain,
        2 * plain,
        plain + optimal,
        2 * optimal,
        optimal,
    )
    assert report.arenas == (2 * optimal,)
    assert report.ratio == 1
    assert report.separate == 0


def test_the_memory_report_knows_graphs() -> None:
    module = apply(parse(CHAIN), *LOWER, *PLAN)
    report = memory_report(program_of(module), cl.target_of(module))
    # Each graph has its own copy of the constant.
    assert report.weights == report.graph_weights == 2 * 512
    lines = {line.what: line.bytes for line in summary(report)}
    assert lines["weights"] == lines["of graphs"] == 1024
    assert report.total == sum(report.arenas) + 1024 + report.inputs + report.outputs
    assert [(row.name, row.type, row.kernels) for row in report.rows[:3]] == [
        ("a", OPTIMAL, ("clml.copy @g0[0]", "clml.binary @g0[1]")),
        ("b", OPTIMAL, ("clml.binary @g0[1]", "clml.copy @g0[2]")),
        ("y", "memref<1x8x4x4xf32>", ("clml.copy @g0[2]", "softmax_0")),
    ]
    assert report.commands[:2] == ("clml.copy @g0[0]", "clml.binary @g0[1]")


def test_a_program_knows_its_graphs() -> None:
    module = apply(parse(CHAIN), *LOWER)
    program = program_of(module)
    assert cl.is_offloaded(program)
    assert list(cl.graphs_in(program)) == ["g0", "g1"]
    kernels = f"""func.func @main(%x: {TENSOR}) -> {TENSOR} {{
      %y = nn.unary relu %x : ({TENSOR}) -> {TENSOR}
      func.return %y : {TENSOR}
    }}"""
    assert not cl.is_offloaded(program_of(apply(parse(kernels), *LOWER)))
