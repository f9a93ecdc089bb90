"""Timing of programs on a device until the median is certain enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..tensor_info import TensorInfo
from .times import Times

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_BATCH = 6
"""Launches before the noise is first checked; their number doubles between checks."""
_CERTAIN = 0.01
"""The noise at which a measurement ends."""
_SLOWER = 1.1
"""A plan that surely takes this many times the best one's time needs no more runs."""
_HOPELESS = 2.0
"""A plan that takes this many times the best one's time needs no second launch."""
_MOST_SECONDS = 8.0
"""Limit of a measurement that has had time for a batch."""
_TICK = 1e-3
"""Microseconds, a lower bound of a launch: a device's clock may report less."""


class BuiltProgram(Protocol):
    """A program on a device."""

    @property
    def inputs(self) -> Sequence[TensorInfo]: ...

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Run once and return the results."""
        ...

    def nanoseconds(self, inputs: Sequence[Array], runs: int) -> list[list[int]]:
        """Return each command's time in each of `runs`, by the device's clock, after a warm-up."""
        ...


class BuiltNetwork(BuiltProgram, Protocol):
    """A whole network on a device."""

    @property
    def resource(self) -> str:
        """The resource that it needs exclusively while timed: see `Turns.alone`."""
        ...


@dataclass(frozen=True)
class TimedLaunch:
    """A kernel with a plan, ready to launch."""

    program: BuiltProgram
    operands: Sequence[Array]
    commands: range
    """The commands of the program that make up the launch."""

    def microseconds(self, runs: int) -> list[float]:
        """Return the time of the launch in each of `runs`."""
        times = self.program.nanoseconds(self.operands, runs)
        return [sum(run[i] for i in self.commands) / 1e3 for run in times]


def time_alone(launch: TimedLaunch, most_runs: int, best: float | None) -> Times:
    """Time a launch until its median is certain, or certainly worse than the best."""
    return _until_certain(launch.microseconds, most_runs, best)


def time_in_turns(launch: TimedLaunch, rival: TimedLaunch, most_runs: int, best: float) -> Times:
    """Time a launch relative to a rival that runs right before it, until the ratio is certain."""

    def ratios(runs: int) -> list[float]:
        found: list[float] = []
        while len(found) < runs:
            count = min(_BATCH, runs - len(found))
            others = rival.microseconds(count)
            pairs = zip(launch.microseconds(count), others, strict=True)
            found += [own / max(other, _TICK) for own, other in pairs]
        return found

    return _until_certain(ratios, most_runs, best)


def _until_certain(
    measured: Callable[[int], list[float]], most_runs: int, best: float | None
) -> Times:
    """Return the times of several batches of runs."""
    found: list[float] = []
    end = time.monotonic() + _MOST_SECONDS
    while True:
        wanted = 1 if not found and best is not None else max(_BATCH, len(found))
        found += measured(min(wanted, most_runs - len(found)))
        times = Times(found)
        if times.runs >= most_runs:
            return times
        if times.runs < _BATCH:
            if best is not None and times.median > _HOPELESS * best:
                return times
        elif times.noise < _CERTAIN or time.monotonic() > end:
            return times
        elif best is not None and times.least > _SLOWER * best:
            return times
