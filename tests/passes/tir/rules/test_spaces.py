"""Any point of any rule's space computes what the naive kernel does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from clopt.context import CloptContext
from clopt.dialects import cl, tir
from clopt.dialects.nn.evaluation import interpret
from clopt.passes.cl.pack_constants import CLPackConstantsPass
from clopt.passes.nn.choose import NNChoosePass
from clopt.passes.nn.conv_to_matmul import NNConvToMatmulPass
from clopt.passes.nn.fuse import NNFusePass
from clopt.passes.nn.join_attention import NNJoinAttentionPass
from clopt.passes.nn.split_padding import NNSplitPaddingPass
from clopt.passes.nn.to_cl import NNToCLPass
from clopt.passes.nn.to_tir import NNToTIRPass
from clopt.passes.tir.hoist_guards import TIRHoistGuardsPass
from clopt.passes.tir.join_strips import TIRJoinStripsPass
from clopt.passes.tir.lower_blocks import TIRLowerBlocksPass
from clopt.passes.tir.lower_textures import TIRLowerTexturesPass
from clopt.targets import load_target
from support import effort
from support.drawing import pick
from support.nn.random_network import Network
from support.nn.random_networks import FAMILIES, TARGETS, assert_same, pixels_and_product
from support.tir import plans
from support.tir.packed_kernels import CASES, Example
from support.tir.program import run_program

GPUS = ("adreno-740", "nvidia")
PACKED = [
    pytest.param(name, gpu, marks=() if i % len(GPUS) == j else pytest.mark.long)
    for i, name in enumerate(list(CASES)[::4])
    for j, gpu in enumerate(GPUS)
]
"""One of the two for each case by default, both in the long form."""


def random_plan(func: tir.FuncOp, target: cl.Target, data: st.DataObject) -> tir.PlanAttr:
    plan = plans.random_plan(func, target, lambda values: pick(data, values))
    event(plan.data.rule)
    return plan


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=effort.examples(3, long=80))
@given(data=st.data())
def test_plain_kernels(family: Callable[[Network], ModuleOp], data: st.DataObject) -> None:
    net = Network(data)
    module = family(net)
    target = data.draw(TARGETS, label="target")
    cl.set_target(module, target)
    expected = interpret(net.function, net.inputs, net.weights)
    ctx = CloptContext(weights=net.weights)
    optional = (NNJoinAttentionPass(), NNConvToMatmulPass(), NNSplitPaddingPass())
    chosen = [step for step in optional if data.draw(st.booleans(), label=step.name)]
    for step in (*chosen, NNFusePass(), NNToCLPass(), NNToTIRPass()):
        step.apply(ctx, module)
    plans.schedule_module(ctx, module, lambda func: random_plan(func, target, data))
    for step in (CLPackConstantsPass(), TIRLowerBlocksPass()):
        step.apply(ctx, module)
        module.verify()
    found = run_program(module, net.weights, net.inputs)
    assert_same(found, expected, "scheduled by a random plan")


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=effort.examples(3, long=80))
@given(data=st.data())
def test_kernels_in_blocks(family: Callable[[Network], ModuleOp], data: st.DataObject) -> None:
    net = Network(data)
    module = family(net)
    width = data.draw(st.sampled_from([2, 4]), label="width")
    target = cl.Target.from_facts("generic", {"vector_width": width, "blocks": "prefer"})
    cl.set_target(module, target)
    expected = interpret(net.function, net.inputs, net.weights)
    ctx = CloptContext(weights=net.weights)
    for step in (NNChoosePass(), NNFusePass(), NNToCLPass(), NNToTIRPass()):
        step.apply(ctx, module)
    plans.schedule_module(ctx, module, lambda func: random_plan(func, target, data))
    for step in (CLPackConstantsPass(), TIRLowerBlocksPass(), TIRHoistGuardsPass()):
        step.apply(ctx, module)
        module.verify()
    found = run_program(module, net.weights, net.inputs)
    assert_same(found, expected, "in blocks, scheduled by a random plan")


@pytest.mark.by_default(cases=1)
@settings(max_examples=effort.examples(6, long=200))
@given(data=st.data())
def test_kernels_of_strips(data: st.DataObject) -> None:
    net = Network(data)
    module = pixels_and_product(net)
    width = data.draw(st.sampled_from([2, 4]), label="width")
    # Launches that take so long are joined wherever they can be.
    target = cl.Target.from_facts(
        "generic", {"vector_width": width, "blocks": "prefer", "launch_microseconds": 1e6}
    )
    cl.set_target(module, target)
    expected = interpret(net.function, net.inputs, net.weights)
    ctx = CloptContext(weights=net.weights)
    for step in (NNChoosePass(), NNFusePass(), NNToCLPass(), NNToTIRPass()):
        step.apply(ctx, module)
    TIRJoinStripsPass().apply(ctx, module)
    module.verify()
    plans.schedule_module(ctx, module, lambda func: random_plan(func, target, data))
    for step in (CLPackConstantsPass(), TIRLowerBlocksPass(), TIRHoistGuardsPass()):
        step.apply(ctx, module)
        module.verify()
    found = run_program(module, net.weights, net.inputs)
    assert_same(found, expected, "in strips, scheduled by a random plan")


@pytest.mark.parametrize(("name", "target"), PACKED)
@settings(max_examples=effort.examples(2))
@given(data=st.data())
def test_packed_kernels(name: str, target: str, data: st.DataObject) -> None:
    facts = load_target(target).with_facts({"texture": "prefer"})
    example = Example(CASES[name], "buffers")
    ctx, module = CloptContext(), example.module()
    cl.set_target(module, facts)
    plans.schedule_module(ctx, module, lambda func: random_plan(func, facts, data))
    for step in (TIRLowerBlocksPass(), TIRLowerTexturesPass()):
        step.apply(ctx, module)
        module.verify()
    example.check([*example.inputs, *run_program(module, ctx.weights, example.inputs)])
