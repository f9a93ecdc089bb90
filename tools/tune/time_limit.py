"""The time limit of a whole command, from the start of its process to its exit."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

_ENDING = 1.0
"""Maximum seconds to end worker processes, print the results and exit."""
_SHARE = 0.1
"""The same as a share of the limit."""
_LATE = 0.3
"""Seconds after the limit at which a command that has not ended is stopped."""


def process_start() -> float:
    """Return when this process began, by the monotonic clock; now if the system hides it."""
    now = time.monotonic()
    if not sys.platform.startswith("linux"):
        return now
    try:
        # The name of the program ends at the last parenthesis, and may contain spaces.
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return now
    return now - max(0.0, age)


def seconds_to_search(limit: float, since: float) -> float:
    """Return the seconds from now for a search in a command that began at `since`."""
    ending = min(_ENDING, _SHARE * limit)
    return max(0.0, since + limit - ending - time.monotonic())


@contextmanager
def stopped_at(end: float | None, conclude: Callable[[], None]) -> Generator[None]:
    """Stop this process soon after `end`, even in a driver's call or while it exits.

    If the body has not ended by then, `conclude` is called before. A body that raises an error
    cancels this.
    """
    if end is None:
        yield
        return
    is_running = True

    def stop() -> None:
        if is_running:
            conclude()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)

    timer = Timer(max(0.0, end + _LATE - time.monotonic()), stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    except BaseException:
        timer.cancel()
        raise
    is_running = False
