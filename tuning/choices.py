"""Measure the kernels of a network in each layout or form that it could use.

Each variant of a kernel is lowered alone. Its time is that of its launches with default plans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import ClassVar, Protocol

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.utils.exceptions import VerifyException

from ..context import CloptContext
from ..decisions.record import Kind
from ..dialects import cl, tir
from ..errors import CloptError
from ..passes.nn.layout.alone import is_border
from ..passes.pipelines import LOWER, REGIONS
from ..passes.tir.rules.plans import default_plan
from ..weights import Weights
from .deadline import Deadline
from .programs import Programs
from .session import Budget
from .tasks import tasks_of
from .trial import Machines, Measurement, Result, Task, Trial

_RUNS = 60
"""Maximum timed launches of a trial."""


class TunedChoice(Protocol):
    """One way to compute a kernel: in certain layouts, or in a form."""

    kind: ClassVar[Kind]

    @property
    def key(self) -> tuple[str, str]:
        """The `site` and `choice` of its records."""
        ...

    @property
    def nodes(self) -> str:
        """The ONNX nodes that it computes."""
        ...

    @property
    def is_default(self) -> bool:
        """Whether this is the cost model's choice."""
        ...

    def tasks(self) -> list[Task]:
        """Return its launches, with caches as cold as in the network."""
        ...


@dataclass(frozen=True)
class Measured:
    """The measurements of a kernel for one choice."""

    choice: TunedChoice
    results: Sequence[Result]
    """One for each of its launches; not empty."""
    launches: Sequence[int]
    """How often each of them runs."""

    def whole(self, target: cl.Target) -> Measurement:
        """Return the total time of the launches, or the fault of the first one without a time.

        The time includes the overhead of each launch after the first.
        """
        seconds = sum(result.seconds for result in self.results)
        runs = min(result.runs for result in self.results)
        for each in self.results:
            if each.microseconds is None:
                return Measurement(
                    each.device, each.driver, seconds, None, None, runs, each.fault, each.reason
                )
        time, any_ = self._sum(lambda result: 1.0), self.results[0]
        overhead = (sum(self.launches) - 1) * target.machine.launch_microseconds
        noise = self._sum(lambda result: result.noise or 0.0) / time
        return Measurement(
            *(any_.device, any_.driver, seconds, time + overhead, noise, runs),
            text=joint_text([each.text for each in self.results]),
        )

    def _sum(self, share: Callable[[Result], float]) -> float:
        pairs = zip(self.launches, self.results, strict=True)
        return sum(count * share(each) * (each.microseconds or 0.0) for count, each in pairs)


class ChoiceJournal(Protocol):
    """Stores the measurements of choices, and gives access to those of plans."""

    def known(self, task: Task) -> Sequence[Result]:
        """Return earlier results for a kernel's plans on this device with this driver."""
        ...

    def known_choices(self, kind: Kind, site: str, target: cl.Target) -> set[str]:
        """Return the choices that were already tried at a site on this device."""
        ...

    def earlier(self, task: Task) -> Sequence[Result]:
        """Return times by other compilers for a kernel's plans, with the text that was timed."""
        ...

    def note_choice(self, measured: Measured, target: cl.Target) -> None: ...

    def renew(self, choice: TunedChoice, target: cl.Target, text: Callable[[], str]) -> bool:
        """Note another compiler's time of a choice if it timed `text`; return whether it did."""
        ...


@dataclass
class ChoiceSession:
    """Measures all promising choices for kernels until the budget is spent."""

    kernels: Sequence[Sequence[TunedChoice]]
    """The ways to compute each kernel, in the order of measurement."""
    target: cl.Target
    machines: Machines
    journal: ChoiceJournal
    budget: Budget = field(default_factory=Budget)
    told: Callable[[int], None] = lambda trials: None
    """Called after each kernel, with the trials so far."""
    trials: int = 0
    _known: dict[str, Result] = field(default_factory=dict[str, Result])
    """By the key of the kernel that was launched."""

    def run(self) -> None:
        """Try the choices that the journal lacks; an interruption loses only the current kernel."""
        self._deadline = Deadline.after(self.budget.seconds)
        for choices in self.kernels:
            if self._is_spent():
                break
            self._measure(choices)
            self.told(self.trials)

    def _is_spent(self) -> bool:
        trials = self.budget.trials
        return self._deadline.is_over or (trials is not None and self.trials >= trials)

    def _measure(self, choices: Iterable[TunedChoice]) -> None:
        """Try all choices for a kernel at once, or as many as time allows."""
        tasks: list[tuple[TunedChoice, list[Task]]] = []
        for each in choices:
            site, choice = each.key
            if self._deadline.is_over:
                break
            if choice not in self.journal.known_choices(each.kind, site, self.target):
                found = each.tasks()
                if not self.journal.renew(each, self.target, partial(_text, found)):
                    tasks.append((each, found))
        self._try(task for _, several in tasks for task in several)
        for each, several in tasks:
            if several and all(task.kernel in self._known for task in several):
                results = [self._known[task.kernel] for task in several]
                measured = Measured(each, results, [task.launches for task in several])
                self.journal.note_choice(measured, self.target)

    def _try(self, tasks: Iterable[Task]) -> None:
        """Get the results of default plans, from the journal or from trials."""
        waiting: dict[str, Future[Result]] = {}
        for task in tasks:
            if task.kernel in self._known or task.kernel in waiting:
                continue
            plan = _default(Programs(task))
            known = [each for each in self.journal.known(task) if each.plan == plan]
            if known:
                self._known[task.kernel] = known[0]
            else:
                earlier = next((e for e in self.journal.earlier(task) if e.plan == plan), None)
                trial = Trial(task, plan, _RUNS, earlier=earlier)
                waiting[task.kernel] = self.machines.submit(trial)
        keys = {future: key for key, future in waiting.items()}
        for future in self._deadline.in_time({future: future for future in keys}):
            self._known[keys[future]] = future.result()
            self.trials += 1


def _default(programs: Programs) -> tir.Plan:
    return default_plan(programs.kernel, programs.task.target).data


def _text(tasks: Iterable[Task]) -> str:
    """Return a digest of some launches with default plans, or "" if one is illegal."""
    several = map(Programs, tasks)
    try:
        return joint_text([programs.of(_default(programs)).text for programs in several])
    except (CloptError, VerifyException):
        return ""  # the trial returns the fault


def joint_text(texts: Sequence[str]) -> str:
    """Return a digest of several digests; empty if one is unknown."""
    return sha256(" ".join(texts).encode()).hexdigest()[:16] if all(texts) else ""


def tasks_alone(module: ModuleOp, weights: Weights) -> list[Task]:
    """Return the launches of a network that was cut out of a model, without copies at its borders.

    The module has run `nn-fold-relayouts`. Caches are as cold as the network's own traffic leaves
    them.
    """
    ctx = CloptContext(weights=weights.subset(weights.keys()))
    PassPipeline((*REGIONS, *LOWER)).apply(ctx, module)
    funcs = [op for op in module.ops if isinstance(op, tir.FuncOp)]
    own = {func.sym_name.data for func in funcs if not is_border(func)}
    return [task for task in tasks_of(module, ctx.weights) if task.name in own]


def as_cold(tasks: Iterable[Task], traffic: int) -> list[Task]:
    """Return the tasks with `traffic` bytes through the caches between two of their launches."""
    return [replace(task, traffic=max(0, traffic)) for task in tasks]
