"""Every fact that changes the text of a kernel with a given plan is in the records."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from xdsl.passes import PassPipeline
from xdsl.utils.exceptions import VerifyException

from clopt.backends.offload import source_of
from clopt.context import CloptContext
from clopt.decisions.record import COUNTING
from clopt.dialects import cl, tir
from clopt.errors import CloptError
from clopt.machine.compiler import DOT_CHOICES
from clopt.messages.source import Source, SourceModule
from clopt.passes.pipelines import SCHEDULE
from clopt.passes.tir.join_kernels import TIRJoinKernelsPass
from clopt.passes.tir.join_strips import TIRJoinStripsPass
from clopt.passes.tir.rules.plans import default_plan
from clopt.targets import fact_types, load_target
from clopt.tuning.programs import Programs
from clopt.tuning.trial import Task
from support.tuning.networks import residual_tasks

# Between kernels these decide by costs; a plan is of one kernel.
OTHERS = (TIRJoinStripsPass, TIRJoinKernelsPass)
PASSES = PassPipeline(tuple(each for each in SCHEDULE if not isinstance(each, OTHERS)))


def changed(target: cl.Target) -> Iterator[tuple[str, cl.Target]]:
    """Each fact that says how code is spelled, with its other values."""
    for name in fact_types():
        value = target.facts.get(name)
        if isinstance(value, bool):
            yield name, target.with_facts({name: not value})
    for choice in DOT_CHOICES:
        try:
            yield "dot_product", target.with_facts({"dot_product": choice})
        except ValueError:
            continue  # for the other kind of device


def text_of(task: Task, plan: tir.Plan, target: cl.Target) -> str | None:
    """The kernel as text; None where the plan is illegal on the target."""
    ctx = CloptContext()
    module = SourceModule.parse(ctx, Source("<task>", task.program)).module
    (kernel,) = (op for op in module.ops if isinstance(op, tir.FuncOp))
    kernel.plan = tir.PlanAttr(plan)
    cl.set_target(module, target)
    for key in task.weights.keys():
        ctx.weights.add(task.weights.get(key))
    try:
        PASSES.apply(ctx, module)
        return source_of(module)
    except (CloptError, VerifyException):
        return None


@pytest.mark.parametrize("name", ["pocl", "adreno-740"])
def test_facts_that_change_the_text_count(name: str):
    # A task's own values are images only in the program of a trial.
    target = load_target(name).with_facts({"texture": "off"})
    found: set[str] = set()
    for task in residual_tasks(target, precision="f16")[1:3]:
        plan = default_plan(Programs(task).kernel, target).data
        text = text_of(task, plan, target)
        assert text is not None
        for fact, other in changed(target):
            if text_of(task, plan, other) not in (text, None):
                found.add(fact)
    assert "builtins" in found
    assert found <= set(COUNTING[target.device.device_type])
