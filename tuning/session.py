"""The tuning of a model's kernels within a budget, largest expected gain first."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice, takewhile
from statistics import mean, median
from typing import Protocol

from ..dialects import tir
from .cost_model import CostModel
from .deadline import Deadline
from .programs import Programs
from .search import Search, kernel_features
from .spaces import PlanCandidate, PlanSpace
from .trial import Machines, Result, Rival, Task, Trial

_GENERATION = 8
"""Plans in a generation of one search, and the minimum over all searches."""
_FADING = 0.7
"""Factor on the expected gain after each generation without one."""
_FINALISTS = 3
"""The number of fastest plans that are timed again, with more runs, beside the default."""
_FINALES = 3
"""Maximum rounds of finalists: others follow if these turn out slower than plans that were none."""
_BUILDS = 2
"""Time of a finalist in units of another trial: its rival is built, too."""
_LARGEST_FINALE = 0.4
"""Largest share of a search's time that is kept for finalists."""
_RUNS = 60
"""Maximum timed launches of a trial; finalists get five times as many."""


class Journal(Protocol):
    """Stores the results of trials as they arrive."""

    def known(self, task: Task) -> Sequence[Result]:
        """Return results of earlier searches for the kernel, on this device with this driver."""
        ...

    def earlier(self, task: Task) -> Sequence[Result]:
        """Return times by other compilers for the kernel, with the text that was timed."""
        ...

    def note(self, task: Task, result: Result, is_default: bool) -> None: ...


@dataclass(frozen=True)
class Budget:
    """The limits of a session; None is no limit.

    A search also ends by itself.

    No trial begins after `seconds`, and running trials get `deadline.GRACE` more seconds.
    """

    seconds: float | None = None
    trials: int | None = None

    def share(self, part: float) -> Budget:
        """Return a part of the budget: at least one trial."""
        return Budget(
            None if self.seconds is None else part * self.seconds,
            None if self.trials is None else max(1, int(part * self.trials)),
        )

    def less(self, seconds: float, trials: int) -> Budget:
        """Return the remaining budget after `seconds` and `trials`."""
        return Budget(
            None if self.seconds is None else max(0.0, self.seconds - seconds),
            None if self.trials is None else max(0, self.trials - trials),
        )


@dataclass(frozen=True)
class Outcome:
    """The result of a session for one task."""

    task: Task
    default: Result
    best: Result
    plans: int = 1
    """The number of plans that were tried, including the default."""

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
        """Microseconds that the chosen plan saves per inference."""
        if not self.gains or self.default.microseconds is None or self.best.microseconds is None:
            return 0.0
        return self.task.launches * (self.default.microseconds - self.best.microseconds)


@dataclass(frozen=True)
class Progress:
    """The progress of a session."""

    search: Search
    result: Result
    trials: int
    seconds: float
    saved: float
    """Microseconds that the best plans so far save per inference."""
    total: float
    """Microseconds per inference with default plans."""


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
            earlier = {PlanCandidate(each.plan).key: each for each in self.journal.earlier(task)}
            search = Search(task, space, model, kernel_features(kernel), earlier, self.seed)
            search.learn(self.journal.known(task))
            self.searches.append(search)

    def run(self) -> list[Outcome]:
        """Search until the budget is spent or no gain is expected; return the outcome of each task.

        A task whose default was not tried has no outcome. If the session ends early, `outcomes`
        returns the results so far.
        """
        self._start = time.monotonic()
        self._deadline = Deadline.after(self.budget.seconds)
        while not self._is_spent() and any(not search.is_over for search in self.searches):
            self._try(self._generations())
        compared = set[str]()
        for _ in range(_FINALES):
            finalists = [(search, self._finalists(search, compared)) for search in self.searches]
            compared.update(_key(trial) for _, trials in finalists for trial in trials)
            self._try(finalists)
        return self.outcomes()

    def outcomes(self) -> list[Outcome]:
        """Return the outcomes so far."""
        return [
            Outcome(search.task, search.default, search.best or search.default, len(search.results))
            for search in self.searches
            if search.default is not None
        ]

    def seconds_for(self, searches: Sequence[Search]) -> float:
        """Return the estimated seconds of another generation of each of these searches."""
        taken = [each.seconds for search in self.searches for each in search.results.values()]
        return len(searches) * _GENERATION * mean(taken or [0.0]) / self.machines.slots

    def _generations(self) -> list[tuple[Search, list[Trial]]]:
        """Return generations of the most promising searches, enough to keep all machines busy.

        The expected gain is the time of a task's launches, reduced after each generation without
        a gain. The time of an untimed task follows from its work, so that in a short search small
        kernels take no trials from large ones.
        """
        found: list[tuple[Search, list[Trial]]] = []
        wanted = max(_GENERATION, 2 * self.machines.slots)
        open_ = [search for search in self.searches if not search.is_over]
        pace = self._pace()
        for search in sorted(open_, key=lambda search: _hope(search, pace), reverse=True):
            rival = _rival(search, in_turns=search.task.target.device.device_type == "cpu")
            trials = [
                Trial(search.task, each.plan, _RUNS, rival, search.earlier.get(each.key))
                for each in search.generation(_GENERATION)
            ]
            found.append((search, trials))
            wanted -= len(trials)
            if wanted <= 0:
                break
        return found

    def _pace(self) -> float:
        """Return the median microseconds per unit of work; 1 until a kernel has been timed."""
        timed = [(search, search.best) for search in self.searches]
        paces = [(best.microseconds or 0.0) / each.work for each, best in timed if best]
        return median(paces) if paces else 1.0

    def _is_spent(self) -> bool:
        """Return whether the rest of the budget is needed for finalists."""
        seconds, trials = self.budget.seconds, self.budget.trials
        if trials is not None and self.trials >= trials:
            return True
        if seconds is None:
            return False
        kept = min(self._seconds_of_finalists(), _LARGEST_FINALE * seconds)
        return time.monotonic() - self._start >= seconds - kept

    def _seconds_of_finalists(self) -> float:
        """Return the seconds to time all finalists again, estimated from the trials so far."""
        found = [each for search in self.searches for each in search.results.values()]
        trials = sum(len(self._finalists(search, set())) for search in self.searches)
        taken = sum(each.seconds for each in found)
        return _BUILDS * trials * taken / max(1, len(found)) / self.machines.slots

    def _finalists(self, search: Search, compared: set[str]) -> list[Trial]:
        """Return plans faster than the default and than all earlier finalists, best first.

        The least of many times is probably too short by chance. So finalists are timed again,
        alternating with the default.
        """
        default, rival = search.default, _rival(search, in_turns=True)
        timed = [each for each in search.results.values() if each.microseconds is not None]
        timed.sort(key=lambda each: each.microseconds or 0.0)
        faster = takewhile(lambda each: each is not default and _key(each) not in compared, timed)
        return [
            Trial(search.task, each.plan, 5 * _RUNS, rival) for each in islice(faster, _FINALISTS)
        ]

    def _try(self, generations: Sequence[tuple[Search, Sequence[Trial]]]) -> None:
        """Let each search learn the results of its trials in order, once all have arrived.

        If time is up, it learns the results that have arrived.
        """
        if self._deadline.is_over:
            return
        searches: dict[Future[Result], Search] = {}
        tried: dict[Future[Result], Future[Result]] = {}
        for search, trials in generations:
            for trial in trials:
                noted, tried[noted] = self._noted(search, trial)
                searches[noted] = search
        found: dict[Future[Result], Result] = {}
        for noted in self._deadline.in_time(tried):
            found[noted] = noted.result()
            self.trials += 1
            self.told(self._progress(searches[noted], found[noted]))
        for search, _ in generations:
            own = (noted for noted, by in searches.items() if by is search)
            results = [found[noted] for noted in own if noted in found]
            if results:
                search.learn(results)

    def _noted(self, search: Search, trial: Trial) -> tuple[Future[Result], Future[Result]]:
        """Submit a trial; return its result once the journal has it, and the trial itself.

        The thread that receives the result writes it, so that Ctrl-C, which interrupts only the
        main thread, loses no result.
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

        tried = self.machines.submit(trial)
        tried.add_done_callback(note)
        return noted, tried

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


def _rival(search: Search, *, in_turns: bool) -> Rival | None:
    """Return the rival of the next plans: the best time, and possibly the default in turns.

    On CPUs all plans alternate with the default, because other programs also use the CPU. On other
    devices only finalists do.
    """
    best, default = search.best, search.default
    if best is None or best.microseconds is None:
        return None
    if not in_turns or default is None or default.microseconds is None:
        return Rival(best.microseconds)
    return Rival(best.microseconds, default.plan, default.microseconds)


def _key(of: Trial | Result) -> str:
    """Return a key for a kernel with a plan."""
    kernel = of.kernel if isinstance(of, Result) else of.task.kernel
    return f"{kernel} {tir.PlanAttr(of.plan)}"


def _hope(search: Search, pace: float) -> float:
    """Return the microseconds per inference that a search may still save."""
    best = search.best
    time = None if best is None or search.default is None else best.microseconds
    return (
        search.task.launches
        * (pace * search.work if time is None else time)
        * _FADING**search.stale
    )
