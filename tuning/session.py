"""The tuning of a model's kernels within a budget, largest expected gain first."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice, takewhile
from statistics import mean, median
from typing import Any, Protocol

from ..dialects import tir
from .candidates import Candidates
from .cost_model import CostModel
from .deadline import Deadline
from .machines import Machines
from .programs import Programs
from .search import Search, kernel_features
from .spaces import PlanCandidate, PlanSpace
from .trial import Result, Rival, Task, Trial

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

    A search also ends by itself. Trials that have not ended after `seconds` are dropped.
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


@dataclass(eq=False)
class _Generation:
    """Plans of one search that are tried at once, from the request for candidates on."""

    search: Search
    open: dict[Future[Any], Future[Any]] = field(default_factory=dict[Future[Any], Future[Any]])
    """What has not arrived yet, each with the work to cancel when time is up."""
    candidates: Future[Candidates] | None = None
    trials: list[Future[Result]] = field(default_factory=list[Future[Result]])

    @property
    def results(self) -> list[Result]:
        """The results that have arrived, in the order of the trials."""
        return [each.result() for each in self.trials if each not in self.open]

    @property
    def size(self) -> int:
        """The number of trials that have not ended; a guess until the candidates arrive."""
        return len(self.open) if self.trials else _GENERATION


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
        self._run([], begins=True)
        compared = set[str]()
        for _ in range(_FINALES):
            self._run([self._final(search, compared) for search in self.searches])
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

    def _run(self, running: list[_Generation], *, begins: bool = False) -> None:
        """Complete generations, and begin others if `begins`, until time is up."""
        while True:
            if begins:
                self._begin(running)
            owners = {future: each for each in running for future in each.open}
            arrived = self._deadline.first_of(owners)
            if not arrived:
                break
            for future in arrived:
                self._arrive(owners[future], future)
            running = [each for each in running if not self._is_complete(each)]
        left = {future: work for each in running for future, work in each.open.items()}
        for future in self._deadline.in_time(left):
            self._arrive(owners[future], future)
        for each in running:
            if each.results:
                each.search.learn(each.results)

    def _begin(self, running: list[_Generation]) -> None:
        """Begin generations of the most promising searches, enough to keep all machines busy.

        The expected gain is the time of a task's launches, reduced after each generation without
        a gain. The time of an untimed task follows from its work, so that in a short search small
        kernels take no trials from large ones.
        """
        if self._is_spent():
            return
        busy = {each.search for each in running}
        idle = [each for each in self.searches if not each.is_over and each not in busy]
        size, pace = sum(each.size for each in running), self._pace()
        for search in sorted(idle, key=lambda search: _hope(search, pace), reverse=True):
            if size >= max(_GENERATION, 2 * self.machines.slots):
                return
            running.append(generation := _Generation(search))
            request = search.request()
            if request is None:
                self._submit(generation, self._trials(search, search.generation(_GENERATION)))
            else:
                generation.candidates = found = self.machines.candidates(request)
                generation.open[found] = found
            size += generation.size

    def _arrive(self, generation: _Generation, future: Future[Any]) -> None:
        """Count what has arrived for a generation."""
        del generation.open[future]
        if future is not generation.candidates:
            self.trials += 1
            self.told(self._progress(generation.search, future.result()))

    def _is_complete(self, generation: _Generation) -> bool:
        """Return whether a search has learned its generation; submit trials of new candidates."""
        if generation.open:
            return False
        search, found = generation.search, generation.candidates
        if found is not None and not generation.trials:
            plans = search.generation(_GENERATION, found.result())
            self._submit(generation, self._trials(search, plans))
            return not plans
        if generation.trials:
            search.learn(generation.results)
        return True

    def _trials(self, search: Search, plans: Iterable[PlanCandidate]) -> list[Trial]:
        rival = _rival(search, in_turns=search.task.target.device.device_type == "cpu")
        return [
            Trial(search.task, each.plan, _RUNS, rival, search.earlier.get(each.key))
            for each in plans
        ]

    def _submit(self, generation: _Generation, trials: Iterable[Trial]) -> None:
        for trial in trials:
            noted, tried = self._noted(generation.search, trial)
            generation.trials.append(noted)
            generation.open[noted] = tried

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

    def _final(self, search: Search, compared: set[str]) -> _Generation:
        """Begin the comparison of a search's finalists, and add them to `compared`."""
        generation, trials = _Generation(search), self._finalists(search, compared)
        if not self._deadline.is_over:
            self._submit(generation, trials)
        compared.update(map(_key, trials))
        return generation

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
