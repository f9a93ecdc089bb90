"""`tir-choose-plan`: attaches the plan of each kernel's schedule, `#tir.plan`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...decisions import deciding
from ...decisions.database import Tuning
from ...dialects import cl, tir
from ...dialects.remarks import add_remarks
from .plan_demands import PlanDemands
from .plan_parts import with_parts
from .rules.images import target_of_smallest
from .rules.plans import default_plan
from .rules.stages import is_naive
from .tuned_plans import TunedPlans


@dataclass(frozen=True)
class TIRChoosePlanPass(Tuning, ModulePass):
    """Choose the plan of each naive kernel: the default plan of the first rule that applies.

    A plan that the module's choices demand (`decisions/choices.py`) comes first; an error says if
    it is invalid for its kernel. A demanded plan for an older version of its rule is skipped with a
    remark.

    With `tuning`, tuning databases (`decisions/database.py`), other kernels get the plan that was
    measured to be faster than their default by more than the noise. Remarks list the plans that
    were measured on another device than `device` and `driver`, and the databases without any of the
    kernels. `places` are databases that the user did not name: if one cannot be read, the result is
    a remark.

    The default plan of a program that also serves smaller batches keeps all cores busy with the
    smallest of them (`rules/images.py`).

    A plan that splits a kernel gets the plans of the parts, chosen in the same way. A kernel that
    has a plan or a `schedule` keeps it. A kernel without blocks, or with loops that are already
    split or bound, is left unchanged.
    """

    name: ClassVar[str] = "tir-choose-plan"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        smallest = target_of_smallest(op)
        kernels = [func for func in op.ops if isinstance(func, tir.FuncOp) and _is_open(func)]
        tuned = TunedPlans.read(self, target)

        def chosen(func: tir.FuncOp) -> tir.Plan:
            """Return the plan of a kernel, with the plans of its parts."""
            plan = None if func.plan is None else func.plan.data
            if plan is None:
                default = with_parts(func, default_plan(func, smallest).data, target, chosen)
                plan = tuned.plan(func, default) or default
            return with_parts(func, plan, target, chosen)

        with deciding(op, ctx) as choices:
            demands = None if choices is None else PlanDemands(choices, target)
            for func in kernels:
                if demands is not None:
                    demands.take(func)
                func.plan = tir.PlanAttr(chosen(func))
                if demands is not None:
                    demands.note(func, tuned.measured.get(func))
                    demands.offer_whole(func, op)
        add_remarks(op, tuned.remarks())
        add_remarks(op, () if demands is None else demands.remarks)


def _is_open(func: tir.FuncOp) -> bool:
    """Return whether a kernel is naive and has no `schedule`."""
    return func.global_size is None and func.schedule is None and is_naive(func)
