"""The model of a report, with queries that several sections share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ...description import Description, KernelInfo, LaunchInfo
from ...messages.explanations import ExplainedPlan
from ..decisions import Decisions, ReportedNode, ReportedRegion
from ..memory import MemoryReport
from ..profile import Profile
from .flow import FlowStep, steps_of


@dataclass(frozen=True)
class ReportedModel:
    """A compiled model as plain data."""

    title: str
    description: Description
    memory: MemoryReport
    decisions: Decisions | None = None
    """The choices of the compiler; None for a loaded model, or if they were not recorded."""
    profile: Profile | None = None
    """Times of the commands, if they were measured."""
    device: str = ""
    """The device on which the times were measured."""

    @cached_property
    def steps(self) -> Sequence[FlowStep]:
        """The inputs, the commands and the outputs of the program."""
        return steps_of(self.description, self.decisions)

    @cached_property
    def accelerators(self) -> Sequence[str]:
        """The accelerators that compute a part."""
        return sorted({graph.accelerator for graph in self.description.graphs})

    def launches_of(self, kernel: int) -> list[int]:
        """Return the commands that launch a kernel."""
        commands = enumerate(self.description.commands)
        return [i for i, c in commands if isinstance(c, LaunchInfo) and c.kernel == kernel]

    def regions_of(self, command: int) -> list[ReportedRegion]:
        """Return the parts of the network that a command computes, if known."""
        if self.decisions is None or len(self.decisions.commands) != self._count:
            return []
        return [self.decisions.regions[i] for i in self.decisions.commands[command]]

    def nodes_of(self, kernel: int) -> list[ReportedNode]:
        """Return the nodes that the launches of a kernel compute, if known."""
        regions = [r for command in self.launches_of(kernel) for r in self.regions_of(command)]
        return [node for region in regions for node in region.nodes]

    def plans_of(self, kernel: int) -> list[ExplainedPlan]:
        """Return the explained plans of a kernel; for a joined kernel, the plans of its members."""
        info = self.description.kernels[kernel]
        if self.decisions is None:
            return []
        plans = self.decisions.plans
        if info.name in plans:
            return [plans[info.name]]
        regions = [r for command in self.launches_of(kernel) for r in self.regions_of(command)]
        names = dict.fromkeys(region.kernel for region in regions)
        return [plans[name] for name in names if name in plans]

    def rule_of(self, kernel: KernelInfo) -> str:
        """Return the rule that scheduled a kernel; empty if the kernel has no plan."""
        return kernel.plan.partition('"')[2].partition('"')[0]

    @property
    def _count(self) -> int:
        return len(self.description.commands)
