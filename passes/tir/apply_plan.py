"""`tir-apply-plan`: gives the loops of each kernel the places that its plan asks for."""

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
    """Carry out the plan of each naive kernel, which it keeps, to be read.

    A plan on any other kernel is an error, unless this pass has carried it out before. A kernel
    with a `schedule` gets that one in place of its plan. With `steps` a plan becomes a `schedule`
    and the loops stay: the text to start from for a schedule that no plan describes.
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
        if not is_naive(func):
            raise refuse(
                func,
                "its plan was not carried out, and its loops are scheduled already; remove the "
                "plan, or start from the naive kernel",
            )
        # A refused plan ends the compilation, so that only `steps` needs the kernel as it was.
        schedule = planned(func, target, in_place=not self.steps)
        if self.steps:
            func.schedule = ArrayAttr(map(StringAttr, schedule.steps))
        else:
            schedule.commit()
            mark_carried_out(func)


def mark_carried_out(func: tir.FuncOp) -> None:
    """State that a kernel's loops are those that its plan asks for."""
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
