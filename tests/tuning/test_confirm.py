"""A plan that is faster alone and slower in its network gets the time that it deserves."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

import clopt
from clopt.compiled_model import CompiledModel
from clopt.decisions.choice_file import HEADER
from clopt.dialects import tir
from clopt.passes.tir.rules.plans import plan_of
from clopt.tuning import confirm as confirm_file
from clopt.tuning.confirm import confirm
from clopt.tuning.networks import TunedModel
from clopt.tuning.programs import Programs
from clopt.tuning.session import Outcome
from clopt.tuning.spaces import PlanSpace
from clopt.tuning.trial import Result, Task
from support.tir.plans import every_space
from support.tuning.comparisons import PlantedRuns, times

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"
MODEL = TunedModel(DIGITS, "pocl", None, {"batch": 1})


def outcome(task: Task, rule: str, claimed: float) -> Outcome:
    """What a session would say that claims such a time for the first plan of a rule."""
    kernel = Programs(task).kernel
    space = PlanSpace(kernel, task.target)
    spaces = {rule.name: (rule, space) for rule, space in every_space(kernel, task.target)}
    plan = plan_of(spaces[rule][0], next(spaces[rule][1].points())).data
    default = Result("d", "1", 0.1, 100.0, 0.01, 9, kernel=task.kernel, plan=space.default.plan)
    return Outcome(task, default, replace(default, plan=plan, microseconds=claimed))


def programs(folder: Path, changed: Outcome) -> tuple[CompiledModel, CompiledModel]:
    """The digits with default plans, and with another one for a kernel."""
    file, task = folder / "choices", changed.task
    file.write_text(f"{HEADER}\nplan {task.kernel} {tir.PlanAttr(changed.best.plan)}\n")
    default = clopt.compile(DIGITS, dims={"batch": 1}, device="pocl")
    return default, clopt.compile(DIGITS, dims={"batch": 1}, device="pocl", choices=file)


@pytest.mark.by_default(cases=1)
def test_what_is_slower_in_the_network_is_refuted(tmp_path: Path):
    tasks = [task for task in MODEL.tasks() if "conv2d" in task.nodes]
    first, second = tasks
    claims = [
        outcome(first, "fallback", 50.0),  # dozens of times slower, in truth
        replace(outcome(second, "fallback", 50.0), best=outcome(second, "fallback", 200.0).default),
    ]
    found = confirm(claims, *programs(tmp_path, claims[0]))
    assert found.after.median > found.before.median
    (refuted,) = found.refuted
    assert refuted.plan == claims[0].best.plan
    assert refuted.microseconds is not None
    assert refuted.microseconds > 200
    assert refuted.runs == found.after.runs > 9


@pytest.mark.parametrize(("whole", "refutes_all"), [(0.9, False), (1.03, False), (1.2, True)])
def test_a_slower_network_refutes_all_plans(
    monkeypatch: pytest.MonkeyPatch, whole: float, *, refutes_all: bool
):
    """ResNet-18 once lost 4 % by a plan that its own kernel gained from, on Intel's runtime."""
    tasks = [task for task in MODEL.tasks() if "conv2d" in task.nodes]
    slow, fast = tasks
    before, after = (
        PlantedRuns(times(network), {slow.name: times(first), fast.name: times(second)})
        for network, first, second in ((1.0, 1.0, 1.0), (whole, 3.0, 0.5))
    )
    monkeypatch.setattr(confirm_file, "take_turns", lambda models, deadline, build: [before, after])
    models = cast("tuple[CompiledModel, CompiledModel]", (None, None))
    found = confirm([outcome(task, "fallback", 50.0) for task in tasks], *models)
    given = {each.kernel: each.microseconds for each in found.refuted}
    expected = {slow.kernel: 300.0} | ({fast.kernel: 100 * whole} if refutes_all else {})
    assert given == pytest.approx(expected)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files by Linux' /proc")
def test_a_comparison_leaves_no_files_open(monkeypatch: pytest.MonkeyPatch):
    class Runs:
        resource = "no device"

        def __init__(self, model: object, network: object) -> None:
            self.taken = 0

        def take(self) -> None:
            self.taken += 1

    monkeypatch.setattr(confirm_file, "Runs", Runs)
    models = cast("list[CompiledModel]", [None, None])
    before = {*os.listdir("/proc/self/fd")}
    found = cast("list[Runs]", confirm_file.take_turns(models))
    assert [each.taken for each in found] == [9, 9]
    assert {*os.listdir("/proc/self/fd")} <= before
