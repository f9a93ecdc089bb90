"""Timing on processors is alone; builds and checks are not."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from clopt.errors import CloptError
from clopt.tuning import turns
from clopt.tuning.workers import LocalMachines
from support.tuning.planted import Planted, task, trial

Interval = tuple[float, float]


def intervals(journal: Path, what: str) -> list[Interval]:
    lines = [line.split() for line in journal.read_text().splitlines()]
    return [(float(line[1]), float(line[2])) for line in lines if line[0] == what]


def overlap(first: Interval, second: Interval) -> bool:
    return first[0] < second[1] and second[0] < first[1]


def run(journal: Path, on: str, seconds: float) -> list[str]:
    """Faults of trials by two tuners at once, with two workers each."""
    tuners = [LocalMachines(Planted(journal), 2, seconds) for _ in range(2)]
    own = task()
    try:
        futures = [
            tuners[number % 2].submit(trial("well", own, number=number, build=60, time=100, on=on))
            for number in range(12)
        ]
        return [str(future.result(timeout=60).fault) for future in futures]
    finally:
        for tuner in tuners:
            tuner.close()


def test_a_process_that_keeps_its_turn_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As a tuner does that was stopped by Ctrl-Z."""
    monkeypatch.setattr(turns, "MOST_WAIT", 0.1)
    holder, other = (turns.Turns(tmp_path) for _ in range(2))
    with holder.beside_others(), other.beside_others():
        with pytest.raises(CloptError, match=r"^Another process has held the lock for timing"):
            with other.alone(turns.CPU):
                raise AssertionError
    with holder.alone("A GPU"):
        with pytest.raises(turns.TurnMissedError), other.alone("A GPU"):
            raise AssertionError
    with other.alone("A GPU"):
        pass


def test_a_turn_that_does_not_come_ends_a_search_and_is_no_fault(tmp_path: Path):
    machines = LocalMachines(Planted(tmp_path / "journal"))
    try:
        future = machines.submit(trial("no turn", task()))
        with pytest.raises(CloptError, match=r"^Another process has held the lock\.$"):
            future.result(timeout=60)
    finally:
        machines.close()


def test_timing_on_processors_is_alone(tmp_path: Path):
    assert set(run(tmp_path / "journal", "cpu", seconds=0.4)) == {"None"}
    builds, times = (intervals(tmp_path / "journal", what) for what in ("build", "time"))
    assert len(builds) == len(times) == 12
    assert not any(overlap(*pair) for pair in combinations(times, 2))
    assert not any(overlap(build, time) for build in builds for time in times)
    assert any(overlap(*pair) for pair in combinations(builds, 2))


def test_builds_do_not_wait_for_timing_on_another_device(tmp_path: Path):
    assert set(run(tmp_path / "journal", "A GPU", seconds=20)) == {"None"}
    builds, times = (intervals(tmp_path / "journal", what) for what in ("build", "time"))
    assert not any(overlap(*pair) for pair in combinations(times, 2))
    assert any(overlap(build, time) for build in builds for time in times)
