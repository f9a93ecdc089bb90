"""`tir-apply-plan`: transforms the loops of each kernel as its plan specifies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.passes import ModulePass

from ...dialects import cl, tir
from .apply_schedule import apply_schedule
from .rules.plans import planned
from .rules.stages import is_naive
from .schedule.errors import refuse


@dataclass(frozen=True)
class TIRApplyPlanPass(ModulePass):
    """Apply the plan of each naive kernel.

    The plan stays on the kernel for later passes and readers. A plan on a kernel that is not naive
    is an error, unless this pass has applied it before. A kernel with a `schedule` gets the steps
    of the `schedule` instead of its plan. With the option `steps`, the pass replaces each plan by
    the equivalent `schedule` and leaves the loops unchanged: a starting point for a schedule that
    no plan describes.
    """

    name: ClassVar[str] = "tir-apply-plan"
    steps: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        for func in op.ops:
            if not isinstance(func, tir.FuncOp):
                continue
            if func.schedule is not None and func.global_size is None:
                _run_steps(func, target)
            elif func.plan is not None and func.carried_out is None:
                self._carry_out(func, target)

    def _carry_out(self, func: tir.FuncOp, target: cl.Target) -> None:
        """Apply the plan of one kernel, or with `steps` write its steps to `schedule`."""
        if not is_naive(func):
            raise refuse(
                func,
                "its plan was not carried out, and its loops are already scheduled; remove the "
                "plan, or start from the naive kernel",
            )
        # A rejected plan ends the compilation, so only `steps` needs an unchanged kernel.
        schedule = planned(func, target, in_place=not self.steps)
        if self.steps:
            func.schedule = ArrayAttr(map(StringAttr, schedule.steps))
        else:
            schedule.commit()
            mark_carried_out(func)


def mark_carried_out(func: tir.FuncOp) -> None:
    """Record in `carried_out` that the kernel's loops follow its plan."""
    assert func.plan is not None
    func.carried_out = StringAttr(func.plan.data.digest)


def _run_steps(func: tir.FuncOp, target: cl.Target) -> None:
    """Run the steps of a kernel's `schedule`; its plan stays if it has the same steps."""
    plan, schedule = func.plan, func.schedule
    is_same = (
        plan is not None
        and schedule is not None
        and is_naive(func)
        and [step.data for step in schedule] == planned(func, target).steps
    )
    apply_schedule(func)
    if is_same:
        mark_carried_out(func)
    else:
        func.plan = None
