"""A plan for one device is legal on its siblings, which differ in what a model believes of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

import pytest

from clopt.dialects import cl, tir
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.plans import default_plan, plan_of, space_of
from clopt.targets import TargetChoice
from support import effort
from support.tir import kernels, plans
from support.tir.packed_kernels import CASES, Example

PLAIN = {
    "matmul": kernels.matmul(512, 512, 2048),
    "small matmul": kernels.matmul(24, 40, 8),
    "conv_pool": kernels.conv_pool(8, 16, 20, 1),
    "normalise": kernels.normalise(16, 96),
    "total": kernels.total(40, 300),
    "transpose": kernels.transpose(48, 64),
}
PACKED = (
    "3x3",
    "1x1",
    "of rows by texels",
    "of patches",
    "24 to 31 channels",
    "depthwise",
    "max pool",
    "global average",
)
DEVICES = (
    "pocl",
    "intel-cpu vector_width=16 vector_registers=32",
    "nvidia texture=off",
    "adreno-740 texture=off",
)
TEXTURES = ("adreno-740 texture=prefer", "nvidia texture=prefer")
KERNELS = [
    *((device, name) for device in DEVICES for name in PLAIN),
    *((device, name) for device in TEXTURES for name in PACKED),
]
LAYOUT = ("vector_width", "image_cost")
"""These decide in which memory values lie, and so make other kernels."""


def loaded(text: str) -> cl.Target:
    target = TargetChoice.parse(text).load()
    assert target is not None
    return target


def naive(name: str) -> tir.FuncOp:
    return kernels.parse(PLAIN[name]) if name in PLAIN else Example(CASES[name], "buffers").kernel


def siblings(target: cl.Target) -> Iterator[cl.Target]:
    """Devices with one rate or capacity of the machine far smaller, or far larger."""
    for name, value in target.machine.items():
        if name not in LAYOUT:
            assert isinstance(value, int | float | bool)
            if type(value) is bool:
                yield target.with_facts({name: not value})
            else:
                small, large = (1, 64) if type(value) is int else (0.01, 1000.0)
                yield target.with_facts({name: small})
                yield target.with_facts({name: max(large, 8 * value)})


@cache
def defaults(described: str, name: str) -> list[tuple[cl.Target, tir.PlanAttr]]:
    """The default on a device, then those on its siblings."""
    func, target = naive(name), loaded(described)
    return [(each, default_plan(func, each)) for each in (target, *siblings(target))]


@pytest.mark.by_default(cases=8)
@pytest.mark.parametrize(("described", "name"), KERNELS)
def test_default_plans_travel(described: str, name: str) -> None:
    """In both directions: the default for each sibling is legal on the device, too."""
    kernel = NaiveKernel(naive(name))
    (target, chosen), *others = defaults(described, name)
    for sibling, plan in others:
        space_of(kernel, chosen.data, sibling)
        space_of(kernel, plan.data, target)


@pytest.mark.by_default(cases=8)
@pytest.mark.parametrize(("described", "name"), KERNELS)
def test_random_plans_travel(described: str, name: str) -> None:
    """Of any rule that applies, whether or not it objects."""
    func, target, rng = naive(name), loaded(described), Random(0)
    found = [
        plan_of(rule, plans.random_point(space, rng.choice)).data
        for rule, space in plans.every_space(func, target)
        for _ in range(effort.examples(2, long=20))
    ]
    assert found
    for sibling in siblings(target):
        kernel = NaiveKernel(func)
        for plan in found:
            space_of(kernel, plan, sibling)


def test_some_default_depends_on_each_kind_of_belief() -> None:
    """Else the tests above would say little."""
    missing = {
        "l1_cache_bytes",
        "l2_cache_bytes",
        "vector_registers",
        "register_tile",
        "preferred_work_group",
        "split_results",
        "item_slots",
    }
    orders = {name: i for names in (PLAIN, PACKED) for i, name in enumerate(names)}
    for described, name in sorted(KERNELS, key=lambda kernel: orders[kernel[1]]):
        (target, chosen), *others = defaults(described, name)
        for sibling, plan in others:
            if plan != chosen:
                missing -= {f for f, value in sibling.machine.items() if value != target.facts[f]}
        if not missing:
            break
    assert not missing
