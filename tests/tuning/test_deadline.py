"""A time limit holds, whatever takes its time: trials, the network's last word, a compilation."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Timer
from typing import Any

import pytest

from clopt.targets import load_target
from clopt.tuning import confirm as confirm_file
from clopt.tuning import turns as turns_file
from clopt.tuning.confirm import take_turns
from clopt.tuning.deadline import NEVER, Deadline, TimeIsUpError
from clopt.tuning.session import Budget, Session
from clopt.tuning.trial import Result, Trial
from clopt.tuning.turns import CPU, TurnMissedError, Turns
from support import processes
from support.tuning.fake import FakeMachines, Notes
from support.tuning.networks import residual_tasks

POCL = load_target("pocl")


@dataclass
class Hanging(FakeMachines):
    """Machines that never end a trial but the first ones, and begin one of the others."""

    good: int = 1
    waiting: list[Future[Result]] = field(default_factory=list[Future[Result]])

    def submit(self, trial: Trial) -> Future[Result]:
        if len(self.tried) < self.good:
            return super().submit(trial)
        self.tried.append(trial)
        self.waiting.append(Future())
        if len(self.waiting) == 1:
            self.waiting[0].set_running_or_notify_cancel()
        return self.waiting[-1]


def test_trials_that_hang_do_not_hold_up_a_search():
    task = next(task for task in residual_tasks(POCL) if "conv" in task.nodes)
    machines = Hanging(lambda plan: 10.0)
    session = Session([task], machines, Notes(), Budget(seconds=0.5))
    start = time.monotonic()
    (outcome,) = session.run()
    assert 0.4 < time.monotonic() - start < processes.LIMIT
    assert outcome.best is outcome.default
    begun, *others = machines.waiting
    assert not begun.cancelled()
    assert others
    assert all(each.cancelled() for each in others)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The models that take turns, in their order; they run nothing."""
    found: list[object] = []

    class Turn:
        resource = CPU

        def __init__(self, model: object, network: object) -> None:
            self._model = model

        def take(self) -> None:
            found.append(self._model)

    monkeypatch.setattr(confirm_file, "Runs", Turn)
    return found


MODELS: Sequence[Any] = ["a", "b"]


@pytest.mark.parametrize(("deadline", "turns"), [(NEVER, 9), (Deadline(0.0), 3)])
def test_programs_take_fewer_turns_where_time_is_up(
    taken: list[object], deadline: Deadline, turns: int
):
    take_turns(MODELS, deadline)
    assert [taken.count(model) for model in MODELS] == [turns] * 2


def test_programs_take_fewer_turns_where_these_are_certain(taken: list[object]):
    take_turns(MODELS, NEVER, lambda runs: len(taken) >= 10)
    assert [taken.count(model) for model in MODELS] == [5] * 2


def test_a_network_is_measured_alone(taken: list[object], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(turns_file, "MOST_WAIT", 0.1)
    with Turns().beside_others(), pytest.raises(TurnMissedError):
        take_turns(MODELS)
    assert not taken
    take_turns(MODELS)
    assert len(taken) == 18


def test_nothing_begins_right_before_a_deadline():
    deadline = Deadline(time.monotonic() + 30, grace=60)
    assert deadline.is_over
    with deadline.enforced():
        begun, queued, due = Future[int](), Future[int](), Future[int]()
        begun.set_running_or_notify_cancel()
        due.set_result(1)
        Timer(0.1, begun.set_result, [2]).start()
        found = deadline.in_time({due: due, begun: begun, queued: queued})
        assert [next(found).result(timeout=10) for _ in range(2)] == [1, 2]
        assert queued.cancelled()


def never_end() -> None:
    with Deadline(time.monotonic()).enforced():
        while True:
            with suppress(Exception):  # as libraries do
                time.sleep(60)


def test_what_does_not_look_at_the_clock_is_interrupted():
    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(TimeIsUpError):
        never_end()
    with Deadline(time.monotonic() + 60).enforced():
        pass
    assert signal.getsignal(signal.SIGVTALRM) == before
