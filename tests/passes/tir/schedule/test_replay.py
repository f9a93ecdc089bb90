"""The recorded steps of a schedule make the same kernel again."""

from __future__ import annotations

import pytest

from clopt.passes.tir.schedule import Schedule
from clopt.passes.tir.schedule.steps import apply_step
from support.tir.network_kernels import MODELS, TARGETS, kernels_of, sample
from support.tir.plans import schedule_kernel

FEW = ["resnet18", "vit_tiny", "unet", *sample([m for m in MODELS if m.startswith("hard")], 12)]


def check(model: str, target: str) -> None:
    for kernel in kernels_of(model, target):
        replayed = Schedule(kernel.func)
        steps = schedule_kernel(kernel.func, kernel.target)
        for step in steps:
            apply_step(replayed, step)
        kernel.func.plan = None  # a note, not a step
        assert str(replayed.func) == str(kernel.func)
        assert replayed.steps == steps


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("model", FEW)
def test_replay(model: str, target: str) -> None:
    check(model, target)


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("model", [model for model in MODELS if model not in FEW])
def test_replay_of_all(model: str, target: str) -> None:
    check(model, target)
