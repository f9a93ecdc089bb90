"""When a device executes the commands of an inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyopencl as cl

WARM_UP = 3
"""Inferences before the first that is timed: they fill caches and wake the device."""


@dataclass(frozen=True)
class Timing:
    """One command of an inference."""

    start: int
    """By the device's clock, in nanoseconds."""
    nanoseconds: int
    """From its start to its end on the device."""

    @classmethod
    def joined(cls, timings: Sequence[Timing]) -> Timing:
        """From the start of the first to the end of the last."""
        first, last = timings[0], timings[-1]
        return cls(first.start, last.start + last.nanoseconds - first.start)

    @classmethod
    def between(cls, before: cl.Event, after: cl.Event) -> Timing:
        """From the end of one command to that of another, on a queue with profiling."""
        start = before.profile.end
        return cls(start, max(0, after.profile.end - start))

    @classmethod
    def of(cls, event: cl.Event) -> Timing:
        """The times of a command that has finished, on a queue with profiling."""
        times = event.profile
        return cls(times.start, max(0, times.end - times.start))
