"""Times at which a device executes the commands of an inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyopencl as cl

WARM_UP = 3
"""Inferences before the timed ones: they fill the caches and wake up the device."""


@dataclass(frozen=True)
class Timing:
    """The time of one command of an inference."""

    start: int
    """Start by the device's clock, in nanoseconds."""
    nanoseconds: int
    """Duration on the device, from start to end."""

    @classmethod
    def joined(cls, timings: Sequence[Timing]) -> Timing:
        """Return the time from the start of the first to the end of the last."""
        first, last = timings[0], timings[-1]
        return cls(first.start, last.start + last.nanoseconds - first.start)

    @classmethod
    def total(cls, timings: Sequence[Timing]) -> Timing:
        """Return the sum of the times of a command's iterations, from the start of the first."""
        return cls(timings[0].start, sum(timing.nanoseconds for timing in timings))

    @classmethod
    def between(cls, before: cl.Event, after: cl.Event) -> Timing:
        """Return the time between the ends of two commands, on a queue with profiling."""
        start = before.profile.end
        return cls(start, max(0, after.profile.end - start))

    @classmethod
    def of(cls, event: cl.Event) -> Timing:
        """Return the time of a finished command, on a queue with profiling."""
        times = event.profile
        return cls(times.start, max(0, times.end - times.start))
