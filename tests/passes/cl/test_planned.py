"""Planned programs compute what nn defines: in one arena, in place, in parts, with a pitch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from clopt.context import CloptContext
from clopt.dialects import cl
from clopt.dialects.nn.evaluation import interpret
from clopt.passes.pipelines import PIPELINES
from support import effort
from support.nn.random_layers import graph
from support.nn.random_network import Network
from support.nn.random_networks import IMAGES, TARGETS, assert_same
from support.nn.random_parts import parts_of_others
from support.tir.program import run_program


@pytest.mark.parametrize("targets", [TARGETS, IMAGES], ids=["buffers", "images"])
@pytest.mark.parametrize("family", [graph, parts_of_others])
@settings(max_examples=effort.examples(8))
@given(data=st.data())
def test_planned_programs_compute_what_nn_defines(
    targets: st.SearchStrategy[cl.Target],
    family: Callable[[Network], ModuleOp],
    data: st.DataObject,
) -> None:
    net = Network(data)
    module = family(net)
    cl.set_target(module, data.draw(targets, label="target"))
    expected = interpret(net.function, net.inputs, net.weights)
    ctx = CloptContext(weights=net.weights)
    for step in PIPELINES["opencl"]:
        step.apply(ctx, module)
    assert_same(run_program(module, net.weights, net.inputs), expected, "planned")
