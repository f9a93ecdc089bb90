"""A kernel's plan for people: what was decided, among what, and why by this rule."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from ....dialects import cl, tir
from ....messages.explanations import ExplainedParameter, ExplainedPlan
from . import rules
from .naive_kernel import NaiveKernel
from .plans import space_of
from .rule import Rule
from .space import NotApplicable, Params, text_of


def explain_plan(func: tir.FuncOp, plan: tir.Plan, target: cl.Target) -> ExplainedPlan:
    """Explain the plan of a naive kernel."""
    kernel = NaiveKernel(func)
    rule, space = space_of(kernel, plan, target)
    params = space.completed(Params(plan.parameters))
    cost = None if rule.cost is None else rule.cost(space, params)
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
    return ExplainedPlan(func.sym_name.data, rule.name, rule.version, cost, parameters, others)


def _verdict(rule: Rule[Any], kernel: NaiveKernel, target: cl.Target) -> str:
    """Return whether a rule applies, and its objection."""
    found = rule.space(kernel, target)
    if isinstance(found, NotApplicable):
        return f"does not apply: {found.reason}"
    objection = rule.objection_to(found)
    return "applies as well" if objection is None else f"applies, but objects: {objection}"
