"""Explanations of a kernel's plan: its values, their alternatives, and why this rule was chosen."""

from __future__ import annotations

from dataclasses import fields
from itertools import takewhile
from typing import Any

from ....dialects import cl, tir
from ....messages.explanations import ExplainedParameter, ExplainedPlan, Reason, Why
from ...estimate.terms import Terms
from ..plan_estimate import estimate_plan
from . import rules
from .naive_kernel import NaiveKernel
from .plans import space_of
from .rule import Rule
from .space import NotApplicable, Params, text_of

_APPLIES = "applies"


def explain_plan(func: tir.FuncOp, plan: tir.Plan, target: cl.Target) -> ExplainedPlan:
    """Explain the plan of a naive kernel."""
    kernel = NaiveKernel(func)
    rule, space = space_of(kernel, plan, target)
    params = space.completed(Params(plan.parameters))
    parameters = [
        ExplainedParameter(
            each.name,
            text_of(params.values[each.name]),
            each.parameter.meaning,
            str(each.domain_at(params)),
        )
        for each in space.decisions
    ]
    before = takewhile(lambda other: other is not rule, rules())
    others = [(other.name, _verdict(other, kernel, target)) for other in before]
    estimated = estimate_plan(func, plan, target)
    return ExplainedPlan(
        kernel=func.sym_name.data,
        rule=rule.name,
        version=rule.version,
        microseconds=estimated.microseconds,
        terms={each.name: getattr(estimated.terms, each.name) for each in fields(Terms)},
        parameters=parameters,
        others=others,
    )


def plan_reason(
    func: tir.FuncOp, plan: tir.Plan, target: cl.Target, why: Why, measured: float | None
) -> Reason:
    """Return why a kernel has its plan, with the other rules that apply."""
    explained = explain_plan(func, plan, target)
    times: dict[str, float | None] = {explained.rule: measured or explained.microseconds}
    times |= {rule: None for rule, verdict in explained.others if verdict.startswith(_APPLIES)}
    remark = explained.costs if measured is None else explained.estimate
    return Reason(why, times, remark, explained.rule, explained)


def _verdict(rule: Rule[Any], kernel: NaiveKernel, target: cl.Target) -> str:
    """Return whether a rule applies, and its objection."""
    found = rule.space(kernel, target)
    if isinstance(found, NotApplicable):
        return f"does not apply: {found.reason}"
    objection = rule.objection_to(found)
    return f"{_APPLIES} as well" if objection is None else f"{_APPLIES}, but objects: {objection}"
