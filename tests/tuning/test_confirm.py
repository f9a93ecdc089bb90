"""A plan that is faster alone and slower in its network gets the time that it deserves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import clopt
from clopt.passes.tir.plan_file import Entry, plan_text
from clopt.passes.tir.rules.plans import plan_of
from clopt.tuning.confirm import confirm
from clopt.tuning.networks import Model
from clopt.tuning.programs import Programs
from clopt.tuning.session import Outcome
from clopt.tuning.spaces import PlanSpace
from clopt.tuning.trial import Result, Task
from support.tir.plans import every_space

DIGITS = Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx"
MODEL = Model(DIGITS, "pocl", None, {"batch": 1})


def outcome(task: Task, rule: str, claimed: float) -> Outcome:
    """What a session would say that claims such a time for the first plan of a rule."""
    kernel = Programs(task).kernel
    space = PlanSpace(kernel, task.target)
    spaces = {rule.name: (rule, space) for rule, space in every_space(kernel, task.target)}
    plan = plan_of(spaces[rule][0], next(spaces[rule][1].points())).data
    default = Result(task.kernel, space.default.plan, "d", "1", 0.1, 100.0, 0.01, 9)
    return Outcome(task, default, replace(default, plan=plan, microseconds=claimed))


def test_what_is_slower_in_the_network_is_refuted(tmp_path: Path):
    tasks = [task for task in MODEL.tasks() if "conv2d" in task.nodes]
    first, second = tasks
    claims = [
        outcome(first, "fallback", 50.0),  # dozens of times slower, in truth
        replace(outcome(second, "fallback", 50.0), best=outcome(second, "fallback", 200.0).default),
    ]
    file = tmp_path / "plans"
    entry = Entry(first.kernel, first.target.name, {}, claims[0].best.plan)
    file.write_text(plan_text([entry]))
    default = clopt.compile(DIGITS, dims={"batch": 1}, device="pocl")
    tuned = clopt.compile(DIGITS, dims={"batch": 1}, device="pocl", plans=file)
    found = confirm(claims, default, tuned)
    assert found.after.median > found.before.median
    (refuted,) = found.refuted
    assert refuted.plan == claims[0].best.plan
    assert refuted.microseconds is not None
    assert refuted.microseconds > 200
    assert refuted.runs == found.after.runs > 9
