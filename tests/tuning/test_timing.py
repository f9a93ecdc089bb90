"""Launches are timed until that is certain, beside each other where the machine does other work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from clopt.tuning.timing import Array, TimedLaunch, time_alone, time_in_turns


@dataclass
class Machine:
    """A device that takes `slow` times as long at its n-th launch."""

    slow: Callable[[int], float] = lambda launch: 1.0
    launches: int = 0

    def launch(self, microseconds: float) -> TimedLaunch:
        return TimedLaunch(Program(self, microseconds), [np.zeros(1)], range(1, 3))


@dataclass
class Program:
    """Three commands: another one, and two that are the launch."""

    machine: Machine
    microseconds: float
    inputs: list[None] = field(default_factory=list[None])

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        return list(inputs)

    def nanoseconds(self, inputs: Sequence[Array], runs: int) -> list[list[int]]:
        return [[77, *[self._nanoseconds() // 2] * 2] for _ in range(runs)]

    def _nanoseconds(self) -> int:
        self.machine.launches += 1
        return round(1e3 * self.microseconds * self.machine.slow(self.machine.launches))


def test_a_launch_is_the_sum_of_its_commands():
    assert Machine().launch(10.0).microseconds(2) == [10.0, 10.0]


def test_turns_cancel_what_slows_both_down():
    """A neighbour on the same processor once made 227 of 429 microseconds a gain."""
    machine = Machine(lambda launch: 1.0 + launch // 100 % 2)
    own, rival = machine.launch(95.0), machine.launch(100.0)
    for most_runs in (30, 300):
        times = time_in_turns(own, rival, most_runs, best=1.0)
        assert times.median == pytest.approx(0.95)
        assert times.noise < 0.01
    first = time_alone(rival, 60, None).median
    machine.launches = 100
    assert time_alone(own, 60, None).median == pytest.approx(1.9 * first)


@pytest.mark.parametrize(("microseconds", "least", "most"), [(95, 6, 6), (250, 1, 1), (150, 6, 7)])
def test_clearly_slower_launches_get_few_runs(microseconds: float, least: int, most: int):
    own, rival = Machine().launch(microseconds), Machine().launch(100.0)
    assert least <= time_in_turns(own, rival, 300, best=1.0).runs <= most + 1
    assert least <= time_alone(own, 300, best=100.0).runs <= most + 1


def test_uncertain_times_get_all_runs():
    rng = np.random.default_rng(0)
    machine = Machine(lambda launch: rng.uniform(1, 2))
    own, rival = machine.launch(100.0), machine.launch(100.0)
    assert time_alone(own, 50, None).runs == 50
    assert time_in_turns(own, rival, 50, best=1.0).runs == 50


def test_a_clock_that_stands_still_divides_nothing_by_zero():
    machine = Machine()
    assert time_in_turns(machine.launch(0.0), machine.launch(0.0), 12, best=1.0).median == 0
