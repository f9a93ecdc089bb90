"""Schedules of single kernels by their plans."""

from __future__ import annotations

from clopt.dialects import cl, tir
from clopt.passes.tir.rules.plans import default_plan, planned


def schedule_kernel(func: tir.FuncOp, target: cl.Target) -> list[str]:
    """Choose the plan of a naive kernel and carry it out; the steps that this took."""
    func.plan = default_plan(func, target)
    schedule = planned(func, target)
    schedule.commit()
    return schedule.steps
