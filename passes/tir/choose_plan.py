"""`tir-choose-plan`: notes at each kernel how it is scheduled, `#tir.plan`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...context import explanations_of
from ...dialects import cl, tir
from .rules.explain import explain_plan
from .rules.plans import default_plan
from .rules.stages import is_naive


@dataclass(frozen=True)
class TIRChoosePlanPass(ModulePass):
    """Choose the plan of each naive kernel: the default of the first rule that fits and suits it.

    A kernel that carries a plan or a `schedule` keeps it. A kernel without blocks, or whose loops
    are split or have places already, stays as its author wrote it.
    """

    name: ClassVar[str] = "tir-choose-plan"
    explain: bool = False
    """Explain each plan: the domains of its parameters, its cost, why other rules do not fit."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        explanations = explanations_of(ctx) if self.explain else None
        for func in op.ops:
            if not isinstance(func, tir.FuncOp) or func.global_size is not None:
                continue
            if func.schedule is not None or not is_naive(func):
                continue
            if func.plan is None:
                func.plan = default_plan(func, target)
            if explanations is not None:
                explanations.append(explain_plan(func, func.plan.data, target))
