"""The arrays of a CPU's group fit the stack of a thread, whatever the plan."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from random import Random
from typing import Any, cast

import pytest
from xdsl.dialects import memref
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from clopt.dialects import tir
from clopt.passes.tir.rules.plans import plan_of
from clopt.targets import load_target
from clopt.tuning.programs import Programs
from clopt.tuning.tasks import tasks_of
from support.nn.layout_graphs import Graph
from support.tir.plans import every_space, random_point
from support.tuning.networks import lowered

TARGET = load_target("pocl").with_facts({"blocks": "prefer", "winograd": "prefer"})
STACK = 8 << 20
"""Bytes of a thread of PoCL's, which ends with its process where a group needs more."""


def winograd() -> tuple[Graph, SSAValue]:
    graph = Graph((1, 256, 28, 28))
    return graph, graph.conv(graph.x, 256)


def strips() -> tuple[Graph, SSAValue]:
    graph = Graph((1, 96, 56, 56))
    x = graph.conv(graph.conv(graph.x, 96, kernel=1), 96, groups=96)
    return graph, graph.conv(x, 32, kernel=1)


def items_of_group(func: tir.FuncOp) -> int:
    return prod(cast("tuple[int, ...]", func.local_size and func.local_size.get_values()))


def group_bytes(func: tir.FuncOp) -> int:
    """Private arrays of all work-items of a group."""
    types = [cast("Any", op.memref.type) for op in func.walk() if isinstance(op, memref.AllocaOp)]
    assert all(type_.element_type == f32 for type_ in types)
    return items_of_group(func) * sum(4 * type_.element_count() for type_ in types)


@pytest.mark.parametrize(("rule", "network"), [("winograd-tiles", winograd), ("strips", strips)])
def test_a_group_fits_the_stack(rule: str, network: Callable[[], tuple[Graph, SSAValue]]):
    """A search for plans of U-Net once ended a process of PoCL with 16 strips of 0.7 MB."""
    module, ctx = lowered(*network(), TARGET)
    rng, kernels = Random(0), list[tir.FuncOp]()
    for task in tasks_of(module, ctx.weights):
        programs = Programs(task)
        for each, space in every_space(programs.kernel, TARGET):
            for _ in range(40 if each.name == rule else 0):
                plan = plan_of(each, random_point(space, rng.choice)).data
                ops = programs.of(plan).module.ops
                kernels += [
                    op for op in ops if isinstance(op, tir.FuncOp) and op.sym_name.data == task.name
                ]
    assert len({items_of_group(func) for func in kernels}) > 3
    assert STACK / 16 < max(map(group_bytes, kernels)) < STACK
