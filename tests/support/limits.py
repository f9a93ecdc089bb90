"""Time and memory that a test may take at most, so that a defect of bounds fails and not hangs."""

from __future__ import annotations

import resource
import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class OutOfTime(BaseException):
    """The body took too long. No `except Exception` may take it for an error of its own."""


@contextmanager
def bounded(seconds: float = 10, gibibytes: float = 2) -> Generator[None]:
    """Let the body take so much CPU time, and so much memory more than this process has.

    Raises OutOfTime. An allocation over the limit fails with what Python or numpy raise for it.
    """

    def expire(number: int, frame: FrameType | None) -> NoReturn:
        raise OutOfTime(f"took more than {seconds:g} seconds of CPU time")

    before = signal.signal(signal.SIGPROF, expire)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_mapped() + int(gibibytes * 2**30), hard))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _mapped() -> int:
    """The bytes of this process's address space."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
