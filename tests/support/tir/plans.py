"""Schedules of single kernels by their plans: the default, or any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from clopt.context import CloptContext
from clopt.dialects import cl, tir
from clopt.passes.tir.apply_plan import TIRApplyPlanPass
from clopt.passes.tir.rules import rules
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.plans import default_plan, plan_of, planned
from clopt.passes.tir.rules.rule import Rule
from clopt.passes.tir.rules.space import Params, Space, Value
from clopt.passes.tir.rules.stages import is_naive
from clopt.passes.tir.split_kernels import TIRSplitKernelsPass

Pick = Callable[[Sequence[Any]], Any]

_VALUES = 300
"""Values of a domain of which one is drawn; a few have thousands."""


def schedule_kernel(func: tir.FuncOp, target: cl.Target) -> list[str]:
    """Choose the plan of a naive kernel and carry it out; the steps that this took."""
    func.plan = default_plan(func, target)
    schedule = planned(func, target)
    schedule.commit()
    return schedule.steps


def every_space(func: tir.FuncOp, target: cl.Target) -> list[tuple[Rule[Any], Space[Any]]]:
    """The rules that fit a naive kernel, also those that object to it, with their spaces."""
    kernel = NaiveKernel(func)
    fits = [(rule, rule.space(kernel, target)) for rule in rules()]
    return [(rule, space) for rule, space in fits if isinstance(space, Space)]


def random_plan(func: tir.FuncOp, target: cl.Target, pick: Pick) -> tir.PlanAttr:
    """A point of the space of any rule that fits; the default is one, too."""
    rule, space = pick(every_space(func, target))
    assert space.fault(rule.default(space)) is None
    return plan_of(rule, random_point(space, pick))


def random_point(space: Space[Any], pick: Pick) -> Params:
    """A point of a space, which is not empty."""
    values = _completed(space, {}, pick)
    assert values is not None
    return Params(values)


def _completed(space: Space[Any], chosen: dict[str, Value], pick: Pick) -> dict[str, Value] | None:
    """A point with these first values; None where some later parameter has no value then."""
    if len(chosen) == len(space.decisions):
        return chosen
    decision = space.decisions[len(chosen)]
    values = list(islice(decision.domain_at(Params(chosen)), _VALUES))
    while values:
        value = pick(values)
        found = _completed(space, {**chosen, decision.name: value}, pick)
        if found is not None:
            return found
        values.remove(value)
    return None


def schedule_module(
    ctx: CloptContext, module: ModuleOp, plan_for: Callable[[tir.FuncOp], tir.PlanAttr]
) -> None:
    """Carry plans out for the naive kernels of a module, and for the parts of these."""
    for step in (TIRApplyPlanPass(), TIRSplitKernelsPass(), TIRApplyPlanPass()):
        for func in module.ops:
            if isinstance(func, tir.FuncOp) and func.plan is None and is_naive(func):
                func.plan = plan_for(func)
        step.apply(ctx, module)
        module.verify()
