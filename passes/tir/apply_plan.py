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


@dataclass(frozen=True)
class TIRApplyPlanPass(ModulePass):
    """Carry out the plan of each naive kernel, which it keeps, to be read.

    A kernel with a `schedule` gets that one. With `steps` a plan becomes a `schedule` and the loops
    stay: the text to start from where an engineer wants another schedule than any plan's.
    """

    name: ClassVar[str] = "tir-apply-plan"
    steps: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        for func in op.ops:
            if not isinstance(func, tir.FuncOp) or func.global_size is not None:
                continue
            if func.schedule is not None:
                apply_schedule(func)
            elif func.plan is not None and is_naive(func):
                self._carry_out(func, target)

    def _carry_out(self, func: tir.FuncOp, target: cl.Target) -> None:
        # A refused plan ends the compilation, so that only `steps` needs the kernel as it was.
        schedule = planned(func, target, in_place=not self.steps)
        if self.steps:
            func.schedule = ArrayAttr(map(StringAttr, schedule.steps))
        else:
            schedule.commit()
