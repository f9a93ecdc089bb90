"""Schedules of kernels over packed tensors compute what the naive kernels do, texel by texel."""

from __future__ import annotations

from math import prod

import pytest
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp

from clopt.backends.targets import load_target
from clopt.context import CloptContext
from clopt.dialects import cl, tir
from clopt.passes.tir.auto_schedule import TIRAutoSchedulePass
from clopt.passes.tir.lower_blocks import TIRLowerBlocksPass
from clopt.passes.tir.lower_textures import TIRLowerTexturesPass

from . import interpreter
from .packed_kernels import CASES, Example

TARGETS = {
    name: load_target(name).with_facts({"texture": "prefer"})
    for name in ("adreno-740", "pocl", "nvidia")
}
DEVICES = (
    ("adreno-740", "images"),
    ("adreno-740", "buffers"),
    ("pocl", "images"),
    ("nvidia", "mixed"),
)


def scheduled(example: Example, target: cl.Target) -> tir.FuncOp:
    """The kernel as the device gets it."""
    module = ModuleOp([example.kernel])
    cl.set_target(module, target)
    for step in (TIRAutoSchedulePass(), TIRLowerBlocksPass(), TIRLowerTexturesPass()):
        step.apply(CloptContext(), module)
        module.verify()
    return example.kernel


def plain_stores(kernel: tir.FuncOp) -> list[memref.StoreOp]:
    """What writes packed results, but not by texels."""
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


@pytest.mark.parametrize(("target", "memory"), DEVICES)
@pytest.mark.parametrize("name", CASES)
def test_case(name: str, target: str, memory: str) -> None:
    example = Example(CASES[name], memory)
    kernel = scheduled(example, TARGETS[target])
    arguments = example.arguments()
    interpreter.run(kernel, arguments, TARGETS[target])
    example.check(arguments)
    assert not plain_stores(kernel), "texels are stored whole"
    large = any(value.size > 250 for value in example.expected)
    assert not large or work_items(kernel) > 1
