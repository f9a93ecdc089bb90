"""`tir-choose-plan`: attaches the plan of each kernel's schedule, `#tir.plan`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...context import explanations_of, memory_budget_of
from ...decisions.database import DeviceDriver
from ...dialects import cl, tir
from ...dialects.remarks import add_remarks
from ...errors import CloptError
from ..locations import node_name
from ..memory_budget import MemoryBudget, MemorySaving
from .plan_file import PlanFile
from .plan_parts import with_parts
from .rules import rules
from .rules.explain import explain_plan
from .rules.naive_kernel import NaiveKernel
from .rules.plans import default_plan, space_of
from .rules.stages import is_naive
from .schedule.errors import ScheduleError
from .tuned_plans import TunedPlans


@dataclass(frozen=True)
class TIRChoosePlanPass(ModulePass):
    """Choose the plan of each naive kernel: the default plan of the first rule that applies.

    With `database`, a file of plans (`plan_file.py`), kernels with an entry in the file get the
    plan of that entry. An entry for an older version of its rule is skipped with a remark; an entry
    whose plan is invalid for its kernel is an error.

    With `tuning`, tuning databases (`decisions/database.py`), other kernels get the plan that was
    measured to be faster than their default by more than the noise. Remarks list the plans that
    were measured on another device than `device` and `driver`, and the databases without any of the
    kernels. `places` are databases that the user did not name: if one cannot be read, the result is
    a remark.

    A plan that splits a kernel gets the plans of the parts, chosen in the same way. A kernel that
    has a plan or a `schedule` keeps it. A kernel without blocks, or with loops that are already
    split or bound, is left unchanged.
    """

    name: ClassVar[str] = "tir-choose-plan"
    explain: bool = False
    """Explain the plans: parameter domains, costs, and why other rules do not apply."""
    database: str | None = None
    """The path of a file of plans."""
    tuning: tuple[str, ...] = ()
    """Paths of tuning databases."""
    places: tuple[str, ...] = ()
    """Paths of further databases, or `shipped`: the database that clopt includes for the target."""
    device: str = ""
    """The name and platform of the device that runs the kernels, as written in records."""
    driver: str = ""
    """The version of the device's driver."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        explanations = explanations_of(ctx) if self.explain else None
        kernels = [func for func in op.ops if isinstance(func, tir.FuncOp) and _is_open(func)]
        file = None if self.database is None else PlanFile.read(Path(self.database))
        whole = _kernels_of_whole_sums(op, memory_budget_of(ctx))
        splitting = [rule.name for rule in rules() if rule.splits]
        tuned = TunedPlans.read(
            self.tuning, self.places, DeviceDriver(self.device, self.driver), target
        )

        def chosen(func: tir.FuncOp) -> tir.Plan:
            """Return the plan of a kernel, with the plans of its parts."""
            plan = None if func.plan is None else func.plan.data
            if plan is None:
                without = splitting if func.sym_name.data in whole else ()
                default = with_parts(func, default_plan(func, target, without).data, target, part)
                plan = tuned.plan(func, without, default) or default
            return with_parts(func, plan, target, part)

        def part(func: tir.FuncOp) -> tir.Plan:
            """Return the plan of a part of a kernel."""
            if file is not None:
                _take_plans(op, [func], file, target)
            return chosen(func)

        if file is not None:
            _take_plans(op, kernels, file, target)
        for func in kernels:
            func.plan = tir.PlanAttr(chosen(func))
            if explanations is not None:
                explanations.append(explain_plan(func, func.plan.data, target))
        add_remarks(op, tuned.remarks())


def _kernels_of_whole_sums(module: ModuleOp, budget: MemoryBudget | None) -> set[str]:
    """Return the names of kernels whose launches must not store partial sums in memory."""
    if budget is None:
        return set()
    return {
        launch.kernel_name
        for program in module.ops
        if isinstance(program, cl.ProgramOp)
        for launch in cl.commands(program)
        if isinstance(launch, cl.EnqueueKernelOp)
        and budget.must(MemorySaving.SUMS, node_name(launch))
    }


def _is_open(func: tir.FuncOp) -> bool:
    """Return whether a kernel is naive and has no `schedule`."""
    return func.global_size is None and func.schedule is None and is_naive(func)


def _take_plans(
    module: ModuleOp, kernels: Sequence[tir.FuncOp], plans: PlanFile, target: cl.Target
) -> None:
    """Give kernels without a plan the plans of a file.

    Plans of older versions, and a file for other modules, result in remarks. Raises CloptError for
    a plan that is invalid for its kernel.
    """
    remarks: list[str] = []
    matches = [(func, plans.find(func, target)) for func in kernels if func.plan is None]
    # For a split kernel, a file may contain only the plan that splits it.
    whole = [entry for func, entry in matches if func.part_of is None]
    if whole and not any(whole):
        remarks.append(
            f"{plans.name} has no plan for a kernel of this module on the target {target.name}."
        )
    for func, entry in matches:
        if entry is None:
            continue
        plan = entry.plan
        current = next(rule.version for rule in rules() if rule.name == plan.rule)
        if plan.version < current:
            remarks.append(
                f"{entry.place}: the plan of @{func.sym_name.data} is ignored: it is for version "
                f"{plan.version} of rule '{plan.rule}', which is at version {current}."
            )
            continue
        try:
            space_of(NaiveKernel(func), plan, target)
        except ScheduleError as error:
            raise CloptError(f"{entry.place}: {error}") from error
        func.plan = tir.PlanAttr(plan)
    add_remarks(module, remarks)
