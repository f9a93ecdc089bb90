"""From rules to plans and back: which rule a kernel gets, and what its plan does."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

from ....dialects import cl, tir
from ..schedule import Schedule
from ..schedule.errors import refuse
from . import rules
from .naive_kernel import NaiveKernel
from .rule import Rule
from .space import Misfit, Params, Space


@dataclass(frozen=True)
class Fit:
    """The rule that a kernel gets, and its space."""

    rule: Rule[Any]
    space: Space[Any]


def first_fit(func: tir.FuncOp, target: cl.Target, without: Container[str] = ()) -> Fit:
    """The rule that a naive kernel gets: the first that fits and has no objection.

    The rules named in `without` do not count.
    """
    kernel = NaiveKernel(func)
    for rule in rules():
        if rule.name in without:
            continue
        found = rule.space(kernel, target)
        if isinstance(found, Space) and rule.objection_to(found) is None:
            return Fit(rule, found)
    raise refuse(func, "no rule fits it")


def default_plan(func: tir.FuncOp, target: cl.Target, without: Container[str] = ()) -> tir.PlanAttr:
    """The default of the rule that a naive kernel gets, of those not in `without`."""
    fit = first_fit(func, target, without)
    return plan_of(fit.rule, fit.rule.default(fit.space))


def plan_of(rule: Rule[Any], params: Params) -> tir.PlanAttr:
    """The plan that is a point of a rule's space."""
    return tir.PlanAttr(tir.Plan(rule.name, rule.version, params.values))


def planned(func: tir.FuncOp, target: cl.Target, *, in_place: bool = False) -> Schedule:
    """The schedule that a naive kernel's plan asks for, not committed; `in_place` on no copy.

    Raises ScheduleError for a plan of an unknown rule or version, of a rule that does not fit the
    kernel, and for a parameter outside of its domain.
    """
    assert func.plan is not None
    plan = func.plan.data
    schedule = Schedule(func, in_place=in_place)
    kernel = NaiveKernel(schedule.func)
    rule, _ = space_of(kernel, plan, target)
    rule.apply(schedule, kernel, Params(plan.parameters))
    return schedule


def space_of(
    kernel: NaiveKernel, plan: tir.Plan, target: cl.Target
) -> tuple[Rule[Any], Space[Any]]:
    """The rule of a plan and its space for a kernel; an error where the plan is no point of it."""
    func = kernel.func
    rule = next((rule for rule in rules() if rule.name == plan.rule), None)
    if rule is None:
        known = ", ".join(rule.name for rule in rules())
        raise refuse(func, f"its plan is of rule '{plan.rule}', but the rules are {known}")
    if rule.version != plan.version:
        raise refuse(
            func,
            f"its plan is of version {plan.version} of rule '{rule.name}', which is at version "
            f"{rule.version}; choose a plan again",
        )
    space = rule.space(kernel, target)
    if isinstance(space, Misfit):
        raise refuse(func, f"its plan is of rule '{rule.name}', which does not fit: {space.reason}")
    fault = space.fault(Params(plan.parameters))
    if fault is not None:
        raise refuse(func, f"its plan is no point of rule '{rule.name}': {fault}")
    return rule, space
