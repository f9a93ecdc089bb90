"""Schedules of kernels over packed tensors compute what the naive kernels do, texel by texel."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import pytest
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp

from clopt.context import CloptContext
from clopt.dialects import cl, nn, tir
from clopt.passes.tir.apply_plan import TIRApplyPlanPass
from clopt.passes.tir.choose_plan import TIRChoosePlanPass
from clopt.passes.tir.lower_blocks import TIRLowerBlocksPass
from clopt.passes.tir.lower_textures import TIRLowerTexturesPass
from clopt.passes.tir.rules.gpu import row_sharing
from clopt.targets import load_target
from support.tir import interpreter
from support.tir.packed_kernels import CASES, REDUCTIONS, Example, integers, one

TARGETS = {
    name: load_target(name).with_facts({"texture": "prefer"})
    for name in ("adreno-740", "pocl", "nvidia")
}
FIRST = ("adreno-740", "images")
OTHERS = (("adreno-740", "buffers"), ("pocl", "images"), ("nvidia", "mixed"))


def runs() -> Iterator[tuple[str, str, str]]:
    """Every case on the first target, and on another in turn: its neighbours see the rest.

    Groups share reductions in a way of their own where there are many compute units.
    """
    for i, name in enumerate(CASES):
        yield name, *FIRST
        yield name, *OTHERS[i % len(OTHERS)]
        if name in REDUCTIONS and i % len(OTHERS) != 2:
            yield name, *OTHERS[2]


def scheduled(example: Example, target: cl.Target) -> tir.FuncOp:
    """The kernel as the device gets it."""
    module = ModuleOp([example.kernel])
    cl.set_target(module, target)
    for step in (
        TIRChoosePlanPass(),
        TIRApplyPlanPass(),
        TIRLowerBlocksPass(),
        TIRLowerTexturesPass(),
    ):
        step.apply(CloptContext(), module)
        module.verify()
    return example.kernel


def plain_stores(kernel: tir.FuncOp) -> list[memref.StoreOp]:
    """Stores to packed results that do not write whole texels."""
    return [
        op
        for op in kernel.walk()
        if isinstance(op, memref.StoreOp)
        and op.memref in kernel.params
        and len(op.indices) > 1
        and op.memref.type.get_shape()[-1] == tir.TEXEL
    ]


def work_items(kernel: tir.FuncOp) -> int:
    return prod(kernel.global_size.iter_values()) if kernel.global_size is not None else 1


@pytest.mark.parametrize(("name", "target", "memory"), list(runs()))
def test_case(name: str, target: str, memory: str) -> None:
    example = Example(CASES[name], memory)
    kernel = scheduled(example, TARGETS[target])
    arguments = example.arguments()
    interpreter.run(kernel, arguments, TARGETS[target])
    example.check(arguments)
    assert not plain_stores(kernel), "texels are stored whole"
    large = any(value.size > 250 for value in example.expected)
    assert not large or work_items(kernel) > 1


@pytest.mark.parametrize("name", ["depthwise", "depthwise 3"])
def test_tiles_of_depthwise_convolutions_have_rows(name: str) -> None:
    target = TARGETS["adreno-740"].with_facts({"compute_units": 1, "preferred_work_group": 4})
    example = Example(CASES[name], "images")
    module = ModuleOp([example.kernel])
    cl.set_target(module, target)
    TIRChoosePlanPass().apply(CloptContext(), module)
    plan = example.kernel.plan
    assert plan is not None
    assert plan.data.parameters["rows"] == 2
    kernel, arguments = scheduled(Example(CASES[name], "images"), target), example.arguments()
    interpreter.run(kernel, arguments, target)
    example.check(arguments)


def test_a_group_takes_a_few_steps_of_a_long_product_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A compiler that unrolled such a loop whole spilled registers."""
    monkeypatch.setattr(row_sharing, "_ITEMS_PER_UNIT", 4)
    target = TARGETS["adreno-740"]
    example = Example(one(nn.MatmulOp, "lml", integers(1, 768), integers(768, 8)), "images")
    kernel = scheduled(example, target)
    assert [loop.size for loop in tir.rolled_loops(kernel)] == [768 // 4 // 16 // 4]
    arguments = example.arguments()
    interpreter.run(kernel, arguments, target)
    example.check(arguments)


@pytest.mark.parametrize(
    ("name", "rule"),
    [("plain relu", "row-texels"), ("plain relu of odd rows", "gpu-elementwise")],
)
def test_plain_rows_of_texels_are_read_by_four(name: str, rule: str) -> None:
    kernel = scheduled(Example(CASES[name], "images"), TARGETS["adreno-740"])
    assert kernel.plan is not None
    assert kernel.plan.data.rule == rule
