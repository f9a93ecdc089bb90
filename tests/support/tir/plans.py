"""Schedules of single kernels by their plans: the default, or any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from clopt.dialects import cl, tir
from clopt.passes.tir.rules import RULES
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.plans import default_plan, plan_of, planned
from clopt.passes.tir.rules.space import Params, Space, Value

Pick = Callable[[Sequence[Any]], Any]

_VALUES = 300
"""Values of a domain of which one is drawn; a few have thousands."""


def schedule_kernel(func: tir.FuncOp, target: cl.Target) -> list[str]:
    """Choose the plan of a naive kernel and carry it out; the steps that this took."""
    func.plan = default_plan(func, target)
    schedule = planned(func, target)
    schedule.commit()
    return schedule.steps


def random_plan(func: tir.FuncOp, target: cl.Target, pick: Pick) -> tir.PlanAttr:
    """A point of the space of any rule that fits; the default is one, too."""
    kernel = NaiveKernel(func)
    fits = [(rule, rule.space(kernel, target)) for rule in RULES]
    rule, space = pick([(rule, space) for rule, space in fits if isinstance(space, Space)])
    assert space.fault(rule.default(space)) is None
    values: dict[str, Value] = {}
    for parameter in space.parameters:
        domain = parameter.domain_at(Params(values))
        values[parameter.name] = pick(list(islice(domain, _VALUES)))
    return plan_of(rule, Params(values))
