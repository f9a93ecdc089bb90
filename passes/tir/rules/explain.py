"""A kernel's plan for people: what was decided, among what, and why by this rule."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from ....dialects import cl, tir
from . import rules
from .naive_kernel import NaiveKernel
from .plans import space_of
from .rule import Rule
from .space import NotApplicable, Params, text_of


def explain_plan(func: tir.FuncOp, plan: tir.Plan, target: cl.Target) -> str:
    """Return some lines about the plan of a naive kernel."""
    kernel = NaiveKernel(func)
    rule, space = space_of(kernel, plan, target)
    params = space.completed(Params(plan.parameters))
    cost = "" if rule.cost is None else f", cost {rule.cost(space, params):.4g}"
    lines = [f"@{func.sym_name.data}: {rule.name}, version {rule.version}{cost}"]
    for each in space.decisions:
        value, domain = text_of(params.values[each.name]), each.domain_at(params)
        lines.append(f"  {each.name} = {value}: {each.parameter.meaning}; {domain}")
    for other in takewhile(lambda other: other is not rule, rules()):
        lines.append(f"  {other.name} {_verdict(other, kernel, target)}")
    return "\n".join(lines)


def _verdict(rule: Rule[Any], kernel: NaiveKernel, target: cl.Target) -> str:
    """Return whether a rule applies, and its objection."""
    found = rule.space(kernel, target)
    if isinstance(found, NotApplicable):
        return f"does not apply: {found.reason}"
    objection = rule.objection_to(found)
    return "applies as well" if objection is None else f"applies, but objects: {objection}"
