"""Machines that time plans by a function, at once and in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from clopt.dialects import tir
from clopt.tuning.candidates import CandidateRequest, Candidates
from clopt.tuning.instrument import InstrumentDevice
from clopt.tuning.trial import Fault, Result, Task, Trial

DEVICE = InstrumentDevice("Fake (tests)", "1.0")

Times = Callable[[tir.Plan], "float | Fault"]


@dataclass
class FakeMachines:
    """`times` says what each plan takes, in microseconds; every result is known to 1 %."""

    times: Times
    slots: int = 4
    tried: list[Trial] = field(default_factory=list[Trial])

    def submit(self, trial: Trial) -> Future[Result]:
        self.tried.append(trial)
        found = self.times(trial.plan)
        is_fault = isinstance(found, Fault)
        future: Future[Result] = Future()
        future.set_result(
            Result(
                DEVICE.name,
                DEVICE.driver,
                0.1,
                None if is_fault else found,
                None if is_fault else 0.01,
                6,
                found if is_fault else None,
                "It does not run." if is_fault else "",
                kernel=trial.task.kernel,
                plan=trial.plan,
            )
        )
        return future

    def candidates(self, request: CandidateRequest) -> Future[Candidates]:
        return answered(request)

    def close(self) -> None: ...


def answered(request: CandidateRequest) -> Future[Candidates]:
    """Return the answer to a request, computed in this process."""
    future: Future[Candidates] = Future()
    future.set_result(request.answer())
    return future


@dataclass
class Notes:
    """A journal in memory."""

    results: dict[str, list[Result]] = field(default_factory=dict[str, list[Result]])

    def known(self, task: Task) -> Sequence[Result]:
        return self.results.get(task.kernel, [])

    def earlier(self, task: Task) -> Sequence[Result]:
        return []

    def note(self, task: Task, result: Result, is_default: bool) -> None:
        self.results.setdefault(task.kernel, []).append(result)
