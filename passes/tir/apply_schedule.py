"""`tir-apply-schedule`: schedules a kernel by the steps in its `schedule`.

    schedule = ["split out.j 8 -> jo ji", "reorder out.jo out.i out.ji", "vectorize out.ji"]

This replaces the choice of a rule by hand, and lets a test show a single primitive.
`schedule/steps.py` lists the steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects.tir import FuncOp
from .schedule import Schedule
from .schedule.steps import apply_step


@dataclass(frozen=True)
class TIRApplySchedulePass(ModulePass):
    """Run the steps of each kernel that has a `schedule`, and drop it and the plan it replaces."""

    name: ClassVar[str] = "tir-apply-schedule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.body.block.ops:
            if isinstance(func, FuncOp) and func.schedule is not None:
                apply_schedule(func)
                if func.carried_out is None:
                    func.plan = None


def apply_schedule(func: FuncOp) -> None:
    """Run the steps of `func`'s `schedule`, all or none, and drop it."""
    if func.schedule is None:
        return
    schedule = Schedule(func)
    schedule.func.schedule = None
    for step in func.schedule.data:
        apply_step(schedule, step.data)
    schedule.commit()
