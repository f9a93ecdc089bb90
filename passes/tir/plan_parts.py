"""Plans for the parts of a kernel that a plan splits."""

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
    """Return `plan` with a plan for each kernel that it splits `func` into.

    A plan that already has them, or that splits nothing, is returned unchanged. `choose` returns
    the plan of a part; by default it is the one that the part would get without a tuning database.
    """
    if plan.parts or not rule_named(plan.rule).splits:
        return plan

    def default(part: tir.FuncOp) -> tir.Plan:
        return default_plan(part, target).data

    parts = parts_of(func, plan, target)
    return replace(plan, parts=tuple(map(choose or default, parts)))


def parts_of(func: tir.FuncOp, plan: tir.Plan, target: cl.Target) -> list[tir.FuncOp]:
    """Return the naive kernels that `plan` splits a naive kernel into, in order."""
    copy = func.clone()
    copy.plan = tir.PlanAttr(replace(plan, parts=()))
    module = ModuleOp([copy])
    planned(copy, target, in_place=True)
    split_kernel(copy)
    return [op for op in module.ops if isinstance(op, tir.FuncOp)]
