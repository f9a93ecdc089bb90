"""Measures kernels of a network in the layouts that it may give them.

A kernel in given layouts is lowered alone, and its time is that of its launches with the plans that
clopt chooses by itself. Copies into and out of the layouts do not count: they are costs of their
own (`passes/nn/layout/problem.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Protocol

from xdsl.passes import PassPipeline

from ..context import CloptContext
from ..dialects import cl, nn, tir
from ..passes.locations import node_name
from ..passes.nn.layout.alone import is_border, network_of
from ..passes.nn.layout.cost import bytes_of
from ..passes.nn.layout.kernels import Work
from ..passes.nn.layout.measured import Variant
from ..passes.nn.layout.problem import LayoutProblem
from ..passes.nn.layout.tuned_layouts import chosen_variants, kernels_in_layouts
from ..passes.pipelines import LOWER, REGIONS
from ..passes.tir.rules.plans import default_plan
from ..weights import Weights
from .programs import Programs
from .session import Budget
from .tasks import tasks_of
from .trial import Machines, Result, Task, Trial

_NEAR = 2.0
"""Layouts are tried that the model holds to cost at most so many times the kernel's cheapest."""
_RUNS = 60
"""Timed launches of a trial, at the most."""


@dataclass(frozen=True)
class InLayouts:
    """A kernel of a network in layouts that it may have."""

    variant: Variant
    cost: float
    """Microseconds of a launch by the model."""
    is_default: bool
    """Whether the network has it so, by the model."""

    @property
    def nodes(self) -> str:
        """The ONNX nodes that it computes."""
        names = (node_name(op) for op in self.variant.work.ops)
        return ", ".join(dict.fromkeys(filter(None, names)))


@dataclass(frozen=True)
class Measured:
    """What a device said of a kernel in layouts."""

    kernel: InLayouts
    results: Sequence[Result]
    """Of its launches; not empty."""
    launches: Sequence[int]
    """How often each of them runs."""

    @property
    def fault(self) -> Result | None:
        """The first launch that has no time."""
        return next((result for result in self.results if result.microseconds is None), None)

    def microseconds(self, target: cl.Target) -> float:
        """All launches together, with what further ones cost; none may have a fault."""
        further = sum(self.launches) - 1
        return self._sum(lambda result: 1.0) + further * target.launch_microseconds

    @property
    def noise(self) -> float:
        """Half of the width of the interval, as a share of the time."""
        return self._sum(lambda result: result.noise or 0.0) / self._sum(lambda result: 1.0)

    def _sum(self, share: Callable[[Result], float]) -> float:
        pairs = zip(self.launches, self.results, strict=True)
        return sum(count * share(each) * (each.microseconds or 0.0) for count, each in pairs)


class LayoutJournal(Protocol):
    """What keeps the times of kernels in layouts, and knows those of plans."""

    def known(self, task: Task) -> Sequence[Result]:
        """Results of earlier searches for plans of a kernel, on this device with this driver."""
        ...

    def known_layouts(self, kernel: str, target: cl.Target) -> set[str]:
        """The layouts in which this device has tried a kernel."""
        ...

    def note_layouts(self, measured: Measured, target: cl.Target) -> None: ...


@dataclass(frozen=True)
class Networks:
    """The networks of a model, before their layouts are chosen."""

    problems: Sequence[LayoutProblem]
    """None where layouts are no choice of ours alone."""
    weights: Weights

    def kernels(self) -> list[list[InLayouts]]:
        """The distinct kernels whose layouts are a choice, the biggest share of an inference first.

        Of each all layouts that may pay, and those that it has by the model.
        """
        found: dict[str, list[InLayouts]] = {}
        shares: dict[str, float] = {}
        for problem in self.problems:
            usual = chosen_variants(problem, problem.solve())
            for pairs in kernels_in_layouts(problem):
                least = min(cost for _, cost in pairs)
                near = [
                    InLayouts(variant, cost, variant.key in usual)
                    for variant, cost in pairs
                    if cost <= _NEAR * least or variant.key in usual
                ]
                key = pairs[0][0].work.digest
                found.setdefault(key, near)
                shares[key] = shares.get(key, 0.0) + least
        return [found[key] for key in sorted(found, key=lambda key: (-shares[key], key))]

    def tasks(self, kernel: InLayouts) -> list[Task]:
        """The launches of a kernel in its layouts, with caches as cold as in the network."""
        (target,) = {problem.target for problem in self.problems}
        module = network_of(kernel.variant, target)
        ctx = CloptContext(weights=self.weights.subset(self.weights.keys()))
        PassPipeline((*REGIONS, *LOWER)).apply(ctx, module)
        funcs = [op for op in module.ops if isinstance(op, tir.FuncOp)]
        own = {func.sym_name.data for func in funcs if not is_border(func)}
        cold = max(0, self._traffic - _bytes(kernel.variant.work))
        tasks = tasks_of(module, ctx.weights)
        return [replace(task, traffic=cold) for task in tasks if task.name in own]

    @property
    def _traffic(self) -> int:
        """Bytes that an inference reads and writes."""
        return sum(_bytes(work) for each in self.problems for work in each.works.values())


@dataclass
class LayoutSession:
    """Measures the kernels of networks in their layouts, until the budget is spent."""

    networks: Networks
    machines: Machines
    journal: LayoutJournal
    budget: Budget = field(default_factory=Budget)
    told: Callable[[int], None] = lambda trials: None
    """Called after each kernel, with the trials so far."""
    trials: int = 0
    _known: dict[str, Result] = field(default_factory=dict[str, Result])
    """By the key of the kernel that was launched."""

    def run(self) -> None:
        """Try what the journal does not know. What ends it early loses the kernel at hand only."""
        start = time.monotonic()
        for kernels in self.networks.kernels():
            if self._is_spent(time.monotonic() - start):
                break
            self._measure(kernels)
            self.told(self.trials)

    def _is_spent(self, seconds: float) -> bool:
        late = self.budget.seconds is not None and seconds >= self.budget.seconds
        return late or (self.budget.trials is not None and self.trials >= self.budget.trials)

    def _measure(self, kernels: Iterable[InLayouts]) -> None:
        """Try a kernel in all its layouts at once."""
        tasks: list[tuple[InLayouts, list[Task]]] = []
        for each in kernels:
            work, target = each.variant.work, self.networks.problems[0].target
            if each.variant.layouts not in self.journal.known_layouts(work.digest, target):
                tasks.append((each, self.networks.tasks(each)))
        self._try(task for _, several in tasks for task in several)
        for each, several in tasks:
            if several:
                results = [self._known[task.kernel] for task in several]
                measured = Measured(each, results, [task.launches for task in several])
                self.journal.note_layouts(measured, several[0].target)

    def _try(self, tasks: Iterable[Task]) -> None:
        """Find the results of default plans, where the journal has none."""
        waiting: dict[str, Future[Result]] = {}
        for task in tasks:
            if task.kernel in self._known or task.kernel in waiting:
                continue
            plan = default_plan(Programs(task).kernel, task.target).data
            known = [each for each in self.journal.known(task) if each.plan == plan]
            if known:
                self._known[task.kernel] = known[0]
            else:
                waiting[task.kernel] = self.machines.submit(Trial(task, plan, _RUNS))
        for key, future in waiting.items():
            self._known[key] = future.result()
            self.trials += 1


def _bytes(work: Work) -> int:
    """The bytes that a kernel between plain values reads and writes."""
    return sum(bytes_of(nn.tensor_type(value), None) for value in (*work.inputs, work.result))
