"""Tunes the kernels of a model within a budget, those first from which most is to be gained."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass, field
from typing import Protocol

from ..dialects import tir
from .cost_model import CostModel
from .programs import Programs
from .search import Search, kernel_features
from .spaces import PlanSpace
from .trial import Machines, Result, Task, Trial

_GENERATION = 8
"""Plans of a generation, at the least."""
_FADING = 0.7
"""What each generation without a gain leaves of the hope for another one."""
_FINALISTS = 3
"""The fastest plans that are measured again beside the default, more carefully."""
_RUNS = 60
"""Timed launches of a trial, at the most; finalists get five times as many."""


class Journal(Protocol):
    """What keeps the results of trials, as soon as they are there."""

    def known(self, task: Task) -> Sequence[Result]:
        """Results of earlier searches for the kernel, on this device with this driver."""
        ...

    def note(self, task: Task, result: Result, is_default: bool) -> None: ...


@dataclass(frozen=True)
class Budget:
    """When a session ends; None is no limit. A search also ends by itself."""

    seconds: float | None = None
    trials: int | None = None


@dataclass(frozen=True)
class Outcome:
    """What a session found for a task."""

    task: Task
    default: Result
    best: Result

    @property
    def gains(self) -> bool:
        """Whether the best plan beats the default by more than the noise of both."""
        before, after = self.default, self.best
        if before.microseconds is None or after.microseconds is None:
            return before.microseconds is None and after.microseconds is not None
        slowest = after.microseconds * (1 + (after.noise or 0.0))
        return slowest < before.microseconds * (1 - (before.noise or 0.0))

    @property
    def chosen(self) -> tir.Plan:
        """The best plan if it gains, else the default."""
        return (self.best if self.gains else self.default).plan

    @property
    def saved(self) -> float:
        """Microseconds of an inference that the chosen plan saves."""
        if not self.gains or self.default.microseconds is None or self.best.microseconds is None:
            return 0.0
        return self.task.launches * (self.default.microseconds - self.best.microseconds)


@dataclass(frozen=True)
class Progress:
    """How far a session is."""

    search: Search
    result: Result
    trials: int
    seconds: float
    saved: float
    """Microseconds of an inference that the best plans save so far."""
    total: float
    """Microseconds of an inference with default plans."""


@dataclass
class Session:
    """The tuning of some tasks on some machines."""

    tasks: Sequence[Task]
    machines: Machines
    journal: Journal
    budget: Budget = Budget()
    seed: int = 0
    told: Callable[[Progress], None] = lambda progress: None
    searches: list[Search] = field(default_factory=list[Search])
    trials: int = 0

    def __post_init__(self) -> None:
        model = CostModel(self.seed)
        for task in self.tasks:
            kernel = Programs(task).kernel
            space = PlanSpace(kernel, task.target)
            search = Search(task, space, model, kernel_features(kernel), self.seed)
            search.learn(self.journal.known(task))
            self.searches.append(search)

    def run(self) -> list[Outcome]:
        """Search until the budget is spent or nothing more is expected; the outcome of each task.

        A task of which not even the default was tried has none. Whatever ends the session early,
        `outcomes` has what was found.
        """
        self._start = time.monotonic()
        while (search := self._next()) is not None:
            self._try(search, max(_GENERATION, self.machines.slots))
        for search in self.searches:
            self._duel(search)
        return self.outcomes()

    def outcomes(self) -> list[Outcome]:
        """What is known of each task."""
        return [
            Outcome(search.task, search.default, search.best or search.default)
            for search in self.searches
            if search.default is not None
        ]

    def _next(self) -> Search | None:
        """The search with most to gain: the time of its launches, less after each vain generation.

        Those without a time come first, in the order of the tasks.
        """
        if self._is_spent():
            return None
        open_ = [search for search in self.searches if not search.is_over]
        return max(open_, key=_hope, default=None)

    def _is_spent(self) -> bool:
        seconds, trials = self.budget.seconds, self.budget.trials
        late = seconds is not None and time.monotonic() - self._start >= seconds
        return late or (trials is not None and self.trials >= trials)

    def _try(self, search: Search, count: int) -> None:
        rival = None if search.best is None else search.best.microseconds
        trials = [
            Trial(search.task, candidate.plan, _RUNS, rival)
            for candidate in search.generation(count)
        ]
        search.learn(self._results(search, trials))

    def _duel(self, search: Search) -> None:
        """Measure the fastest plans and the default again, with more runs, unless time is over."""
        default = search.default
        timed = [each for each in search.results.values() if each.microseconds is not None]
        if default is None or default.fault or len(timed) < 2 or search.best is default:
            return
        timed.sort(key=lambda each: each.microseconds or 0.0)
        finalists = {str(each.plan): each.plan for each in (*timed[:_FINALISTS], default)}
        trials = [Trial(search.task, plan, 5 * _RUNS) for plan in finalists.values()]
        search.learn(self._results(search, trials))

    def _results(self, search: Search, trials: Sequence[Trial]) -> list[Result]:
        """The results of trials, in their order; each is noted as soon as it is there."""
        futures = [self._noted(search, trial) for trial in trials]
        for future in as_completed(futures):
            self.trials += 1
            self.told(self._progress(search, future.result()))
        return [future.result() for future in futures]

    def _noted(self, search: Search, trial: Trial) -> Future[Result]:
        """A trial's result once the journal has it.

        The thread that gets the result writes it: Ctrl-C, which interrupts the main thread alone,
        loses none.
        """
        noted: Future[Result] = Future()

        def note(tried: Future[Result]) -> None:
            try:
                result = tried.result()
                self.journal.note(search.task, result, result.plan == search.space.default.plan)
            except BaseException as error:
                noted.set_exception(error)
            else:
                noted.set_result(result)

        self.machines.submit(trial).add_done_callback(note)
        return noted

    def _progress(self, search: Search, result: Result) -> Progress:
        outcomes = self.outcomes()
        return Progress(
            search,
            result,
            self.trials,
            time.monotonic() - self._start,
            sum(each.saved for each in outcomes),
            sum(each.task.launches * (each.default.microseconds or 0.0) for each in outcomes),
        )


def _hope(search: Search) -> float:
    best = search.best
    if search.default is None or best is None or best.microseconds is None:
        return float("inf")
    return search.task.launches * best.microseconds * _FADING**search.stale
