"""Random points of the spaces of schedule rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from clopt.dialects import cl, tir
from clopt.passes.tir.rules import RULES
from clopt.passes.tir.rules.naive_kernel import NaiveKernel
from clopt.passes.tir.rules.plans import plan_of
from clopt.passes.tir.rules.space import Params, Space, Value

Pick = Callable[[Sequence[Any]], Any]

_VALUES = 300
"""Values of a domain of which one is drawn; a few have thousands."""


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
