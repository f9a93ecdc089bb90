"""The history of a search from a database's records: each trial, and the best plan after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..decisions.database import latest
from ..decisions.record import Conditions, Kind, Record
from ..machine.facts import Fact
from ..passes.tir.ranked_plans import is_current
from .records import merge
from .summaries import Summary


@dataclass(frozen=True)
class HistoryStep:
    """One trial."""

    place: int
    """Its number among the trials of all kernels, from 1."""
    record: Record
    best: Record | None
    """The best plan so far: the default, unless another is faster by more than the noise."""


@dataclass(frozen=True)
class KernelHistory:
    """The trials of one kernel; not empty."""

    steps: Sequence[HistoryStep]

    @cached_property
    def summary(self) -> Summary:
        """The summary at the end."""
        return Summary(latest(step.record for step in self.steps))

    @property
    def last(self) -> Record:
        """The newest record, for the fields that all records share."""
        return self.steps[-1].record

    @property
    def untuned(self) -> float | None:
        """Microseconds of a launch with the default plan, or None without a time."""
        default = self.summary.default
        return None if default is None else default.microseconds

    @property
    def tuned(self) -> float | None:
        """Microseconds of a launch with the best plan, or None if no plan has a time."""
        best = self.summary.best
        return None if best is None else best.microseconds

    @property
    def cost(self) -> float:
        """Microseconds per inference with the default plan, or with the best if it has no time."""
        return self.last.launches * (self.untuned or self.tuned or 0.0)

    @property
    def best_cost(self) -> float:
        """Microseconds of an inference with the best plan."""
        return self.last.launches * (self.tuned or 0.0)

    @property
    def course(self) -> Sequence[float]:
        """Microseconds per inference after each step.

        Before the default has a time, the course shows the default's later time, or the first
        plan's if the default never gets one.
        """
        timed = [step.record for step in self.steps if step.record.microseconds is not None]
        first = next((record for record in timed if record.default), next(iter(timed), None))
        time = 0.0 if first is None else first.microseconds or 0.0
        found: list[float] = []
        begun = False
        for step in self.steps:
            begun = begun or step.record is first
            if begun and step.best is not None:
                time = step.best.microseconds or 0.0
            found.append(self.last.launches * time)
        return found

    @property
    def faults(self) -> Counter[str]:
        """The number of trials by fault."""
        return Counter(step.record.fault for step in self.steps if step.record.fault)


@dataclass(frozen=True)
class History:
    """The trials on one device with one driver and target; not empty."""

    kernels: Sequence[KernelHistory]
    """Kernels whose plans were tried, the most expensive per inference first."""
    choices: Sequence[KernelHistory]
    """Sites whose other choices were tried in the network, in the same order."""

    @cached_property
    def steps(self) -> Sequence[HistoryStep]:
        """All trials in order."""
        every = (step for kernel in (*self.kernels, *self.choices) for step in kernel.steps)
        return sorted(every, key=lambda step: step.place)

    @property
    def any(self) -> Record:
        """A record, for its target, device and driver."""
        return self.steps[0].record

    @property
    def facts(self) -> Mapping[str, Fact]:
        """The target facts that key the measurements."""
        return self.any.facts

    @property
    def faults(self) -> Counter[str]:
        """The number of trials by fault."""
        return Counter(step.record.fault for step in self.steps if step.record.fault)

    @property
    def seconds(self) -> float:
        """The sum of the trials' durations, even if some ran at once."""
        return sum(step.record.seconds for step in self.steps)

    @property
    def untuned(self) -> float:
        """Microseconds of an inference with the default plans."""
        return sum(kernel.cost for kernel in self.kernels)

    @property
    def tuned(self) -> float:
        """Microseconds of an inference with the best plans."""
        return sum(kernel.best_cost for kernel in self.kernels)

    @property
    def kept(self) -> int:
        """The number of sites with another choice that made the network faster."""
        return sum((each.tuned or 0.0) < (each.untuned or 0.0) for each in self.choices)

    def course(self) -> list[float]:
        """Return the microseconds per inference after each of `steps`."""
        changes: dict[int, float] = {}
        time = 0.0
        for kernel in self.kernels:
            before = kernel.course[0]
            time += before
            for step, cost in zip(kernel.steps, kernel.course, strict=True):
                changes[step.place] = cost - before
                before = cost
        found: list[float] = []
        for step in self.steps:
            time += changes.get(step.place, 0.0)
            found.append(time)
        return found


def histories(records: Iterable[Record]) -> list[History]:
    """Return the searches in a database, those with most trials first.

    The trials are in the order of the records. Plans of changed rules are ignored.
    """
    trials = filter(is_current, records)
    groups: dict[Conditions, list[Record]] = {}
    for record in merge(trials):
        groups.setdefault(record.conditions, []).append(record)
    return sorted(map(_history, groups.values()), key=lambda history: -len(history.steps))


def _history(records: Sequence[Record]) -> History:
    places = {record.line: place for place, record in enumerate(records, 1)}
    sites: dict[tuple[Kind, str], list[Record]] = {}
    for record in records:
        sites.setdefault((record.kind, record.site), []).append(record)
    found = [
        KernelHistory(
            [HistoryStep(places[record.line], record, best) for record, best in _steps(each)]
        )
        for each in sites.values()
    ]
    found.sort(key=lambda kernel: -kernel.cost)
    return History(
        [each for each in found if each.last.kind == "plan"],
        [each for each in found if each.last.kind != "plan"],
    )


def _steps(records: Sequence[Record]) -> list[tuple[Record, Record | None]]:
    """Return the records of a kernel, each with the best plan after it."""
    known: dict[str, Record] = {}
    best: Record | None = None
    found: list[tuple[Record, Record | None]] = []
    for record in records:
        before = known.get(record.choice)
        known.pop(record.choice, None)
        known[record.choice] = record
        is_slow = best is not None and record.least >= (best.microseconds or 0.0)
        if before is not None or record.default or not is_slow:
            best = Summary(list(known.values())).best
        found.append((record, best))
    return found
