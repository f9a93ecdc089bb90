"""A kernel's plan for people: what was decided, among what, and why by this rule."""

from __future__ import annotations

from ....dialects import cl, tir
from . import RULES
from .naive_kernel import NaiveKernel
from .plans import space_of
from .space import Misfit, Params, text_of


def explain_plan(func: tir.FuncOp, plan: tir.Plan, target: cl.Target) -> str:
    """Some lines about the plan of a naive kernel."""
    kernel = NaiveKernel(func)
    rule, space = space_of(kernel, plan, target)
    params = Params(plan.parameters)
    cost = "" if rule.cost is None else f", cost {rule.cost(space, params):.4g}"
    lines = [f"@{func.sym_name.data}: {rule.name}, version {rule.version}{cost}"]
    for parameter in space.parameters:
        value = text_of(params.values[parameter.name])
        lines.append(
            f"  {parameter.name} = {value}: {parameter.meaning}; {parameter.domain_at(params)}"
        )
    for other in RULES[: RULES.index(rule)]:
        found = other.space(kernel, target)
        reason = f"does not fit: {found.reason}" if isinstance(found, Misfit) else "fits as well"
        lines.append(f"  {other.name} {reason}")
    return "\n".join(lines)
