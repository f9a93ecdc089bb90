"""The plans of the kernels that a plan splits a kernel into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from ...dialects import cl, tir
from .rules.plans import default_plan, planned, rule_named
from .split_kernels import split_kernel


def with_parts(
    func: tir.FuncOp,
    plan: tir.Plan,
    target: cl.Target,
    choose: Callable[[tir.FuncOp], tir.Plan] | None = None,
) -> tir.Plan:
    """Return a plan of a naive kernel with the plans of the kernels that it splits it into.

    A plan that has them, or that splits nothing, stays. `choose` gives the plan of each part, by
    default the one that the part would get without a tuning database.
    """
    if plan.parts or not rule_named(plan.rule).splits:
        return plan

    def default(part: tir.FuncOp) -> tir.Plan:
        return default_plan(part, target).data

    parts = parts_of(func, plan, target)
    return replace(plan, parts=tuple(map(choose or default, parts)))


def parts_of(func: tir.FuncOp, plan: tir.Plan, target: cl.Target) -> list[tir.FuncOp]:
    """Return the naive kernels that a plan splits a naive kernel into, in order."""
    copy = func.clone()
    copy.plan = tir.PlanAttr(replace(plan, parts=()))
    module = ModuleOp([copy])
    planned(copy, target, in_place=True)
    split_kernel(copy)
    return [op for op in module.ops if isinstance(op, tir.FuncOp)]
