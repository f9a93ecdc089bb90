"""Plans that a module's choices demand."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from ...decisions import Choices, Site, SiteKind
from ...dialects import cl, tir
from ...messages.explanations import Why
from .kernel_key import kernel_key
from .rules import rules
from .rules.explain import plan_reason
from .rules.naive_kernel import NaiveKernel
from .rules.plans import space_of
from .schedule.errors import ScheduleError


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


def _nodes(func: tir.FuncOp) -> str:
    """Return the name of a kernel and the nodes that it computes."""
    comment = "" if func.comment is None else f": {func.comment.data}"
    return f"@{func.sym_name.data}{comment}"
