"""Conversions between rules and plans: the rule that a kernel gets, and the schedule of a plan."""

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
from .space import NotApplicable, Params, Space


@dataclass(frozen=True)
class ChosenRule:
    """The rule that a kernel gets, and its space."""

    rule: Rule[Any]
    space: Space[Any]


def first_fit(func: tir.FuncOp, target: cl.Target, without: Container[str] = ()) -> ChosenRule:
    """Return the first rule that applies to a naive kernel and has no objection.

    The rules named in `without` do not count. This function is the only one that compares rules.
    """
    kernel = NaiveKernel(func)
    for rule in rules():
        if rule.name in without:
            continue
        found = rule.space(kernel, target)
        if isinstance(found, Space) and rule.objection_to(found) is None:
            return ChosenRule(rule, found)
    raise refuse(func, "no rule applies to it")


def default_plan(func: tir.FuncOp, target: cl.Target, without: Container[str] = ()) -> tir.PlanAttr:
    """Return the default of the rule that a naive kernel gets, of those not in `without`."""
    chosen = first_fit(func, target, without)
    return plan_of(chosen.rule, chosen.rule.default(chosen.space))


def plan_of(rule: Rule[Any], params: Params) -> tir.PlanAttr:
    """Return the plan that is a point of a rule's space.

    A plan leaves out the parameters whose value stands for their absence.
    """
    values = {
        name: value
        for name, value in params.values.items()
        if (absent := rule.declared(name).absent) is None or absent != value
    }
    return tir.PlanAttr(tir.Plan(rule.name, rule.version, values))


def planned(func: tir.FuncOp, target: cl.Target, *, in_place: bool = False) -> Schedule:
    """Return the schedule that a naive kernel's plan asks for, not committed.

    With `in_place` the schedule works on the kernel itself and not on a copy. Raises ScheduleError
    for a plan that `space_of` refuses.
    """
    assert func.plan is not None
    plan = func.plan.data
    schedule = Schedule(func, in_place=in_place)
    rule, space = space_of(NaiveKernel(schedule.func), plan, target)
    rule.make(schedule, space, Params(plan.parameters))
    return schedule


def space_of(
    kernel: NaiveKernel, plan: tir.Plan, target: cl.Target
) -> tuple[Rule[Any], Space[Any]]:
    """Return the rule of a plan and its space for a kernel.

    Raises ScheduleError for an unknown rule or version, for a rule that does not apply to the
    kernel, and for a value outside of its domain.
    """
    func = kernel.func
    fault = schema_fault(plan)
    if fault is not None:
        raise refuse(func, fault)
    rule = rule_named(plan.rule)
    space = rule.space(kernel, target)
    if isinstance(space, NotApplicable):
        raise refuse(
            func, f"its plan is of rule '{rule.name}', which does not apply: {space.reason}"
        )
    fault = space.fault(Params(plan.parameters))
    if fault is not None:
        raise refuse(func, f"its plan is not a point of rule '{rule.name}': {fault}")
    return rule, space


def rule_named(name: str) -> Rule[Any]:
    """Return the rule of a name; KeyError if there is none."""
    for rule in rules():
        if rule.name == name:
            return rule
    raise KeyError(name)


def schema_fault(plan: tir.Plan) -> str | None:
    """Return why a plan is invalid for every kernel (rule, version or parameter), or None."""
    known = {rule.name: rule for rule in rules()}
    rule = known.get(plan.rule)
    if rule is None:
        return f"its plan is of rule '{plan.rule}', but the rules are {', '.join(known)}"
    if rule.version != plan.version:
        return (
            f"its plan is of version {plan.version} of rule '{rule.name}', which is at version "
            f"{rule.version}; choose a plan again"
        )
    fault = rule.schema_fault(plan.parameters)
    if fault is not None:
        return f"its plan does not fit rule '{rule.name}': {fault}"
    if plan.parts and not rule.splits:
        return f"its plan has plans of parts, but rule '{rule.name}' splits no kernel"
    faults = (f"of a part, {fault}" for part in plan.parts if (fault := schema_fault(part)))
    return next(faults, None)
