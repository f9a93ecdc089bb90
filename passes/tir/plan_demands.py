"""Plans that a module's choices demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from xdsl.dialects.builtin import ModuleOp

from ...decisions import Choices, Site, SiteKind
from ...decisions.alternatives import Saving
from ...dialects import cl, tir
from ...messages.explanations import Why
from ..locations import node_name
from .kernel_key import kernel_key
from .plan_estimate import estimate_plan
from .rules import rules
from .rules.explain import plan_reason
from .rules.naive_kernel import NaiveKernel
from .rules.plans import default_plan, planned, rule_named, space_of
from .schedule.errors import ScheduleError
from .split_kernels import bytes_between


@dataclass
class PlanDemands:
    """Gives kernels the plans that their module demands, and notes the plans of all kernels."""

    choices: Choices
    target: cl.Target
    remarks: list[str] = field(default_factory=list[str])
    _sites: dict[tir.FuncOp, Site] = field(default_factory=dict[tir.FuncOp, Site])
    _taken: set[tir.FuncOp] = field(default_factory=set[tir.FuncOp])

    def take(self, func: tir.FuncOp) -> None:
        """Give a kernel without a plan the one that is demanded.

        Raises CloptError if that is no plan, or one that is invalid for the kernel.
        """
        if func.part_of is not None:  # its plan stands in the plan of the whole
            return
        site = self._sites[func] = Site(SiteKind.PLAN, kernel_key(func))
        demanded = self.choices.demanded(site)
        if demanded is None or func.plan is not None:
            return
        if not isinstance(demanded, tir.PlanAttr):
            raise self.choices.refused(site, _nodes(func), "it is a #tir.plan")
        current = {rule.name: rule.version for rule in rules()}
        plan = demanded.data
        if plan.version < current.get(plan.rule, 0):
            self.remarks.append(
                f"the demanded plan of @{func.sym_name.data} is ignored: it is for version "
                f"{plan.version} of rule '{plan.rule}', which is at version {current[plan.rule]}."
            )
            return
        try:
            space_of(NaiveKernel(func), plan, self.target)
        except ScheduleError as error:
            reason = str(error).removesuffix(".")
            raise self.choices.refused(site, _nodes(func), reason) from error
        func.plan = demanded
        self._taken.add(func)

    def note(self, func: tir.FuncOp, measured: float | None) -> None:
        """Note the plan that a kernel got, with the time that a tuning database has for it."""
        why = Why.RULE if measured is None else Why.MEASURED
        why = Why.DEMANDED if func in self._taken else why
        site = self._sites.get(func)
        assert func.plan is not None
        reason = partial(plan_reason, func, func.plan.data, self.target, why, measured)
        if site is not None:
            self.choices.note(site, func.plan, _nodes(func), reason)
        elif self.choices.explained is not None:
            self.choices.explain(SiteKind.PLAN, _nodes(func), reason())

    def offer_whole(self, func: tir.FuncOp, module: ModuleOp) -> None:
        """Offer a plan that does not split a kernel, and so keeps no results between its parts."""
        site, plan = self._sites.get(func), func.plan
        if site is None or plan is None or not self.choices.wants_alternatives:
            return
        if not rule_named(plan.data.rule).splits:
            return
        whole = default_plan(func, self.target, [rule.name for rule in rules() if rule.splits])
        launches = _launches(module, func.sym_name.data)
        longer = estimate_plan(func, whole.data, self.target).microseconds
        longer -= estimate_plan(func, plan.data, self.target).microseconds
        # Splitting must have saved more than the launches of the parts cost.
        least = len(plan.data.parts) * self.target.machine.launch_microseconds
        between = bytes_between(planned(func, self.target).func)
        saving = Saving(between, len(launches) * max(longer, least))
        nodes = " and ".join(map(node_name, launches))
        self.choices.offer(site, whole, saving, launches, nodes)


def _nodes(func: tir.FuncOp) -> str:
    """Return the name of a kernel and the nodes that it computes."""
    comment = "" if func.comment is None else f": {func.comment.data}"
    return f"@{func.sym_name.data}{comment}"


def _launches(module: ModuleOp, kernel: str) -> list[cl.EnqueueKernelOp]:
    """Return the launches of a kernel."""
    return [
        op
        for program in module.ops
        if isinstance(program, cl.ProgramOp)
        for op in cl.commands(program)
        if isinstance(op, cl.EnqueueKernelOp) and op.kernel_name == kernel
    ]
