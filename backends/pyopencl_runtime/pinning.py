"""Cores for the threads of a runtime that leaves their placement to the operating system.

Linux may keep two threads of PoCL on one core for many inferences, while another core is idle.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_TASKS = Path("/proc/self/task")


@dataclass
class StartedThreads:
    """The threads that the body of `on_separate_cores` starts."""

    are_pinned: bool = True
    """Whether each gets a core; the body may decide it."""


@contextmanager
def on_separate_cores() -> Generator[StartedThreads]:
    """Pin each thread that the body starts to a core of its own.

    This only happens if there is a thread for each core on which the process may run. Elsewhere
    other processes may need some of the cores more.
    """
    started = StartedThreads()
    if sys.platform != "linux":
        yield started
        return
    before = _threads()
    yield started
    threads, cores = sorted(_threads() - before), sorted(os.sched_getaffinity(0))
    if started.are_pinned and len(threads) == len(cores):
        for thread, core in zip(threads, cores, strict=True):
            with suppress(OSError):  # the thread has ended, or a sandbox forbids it
                os.sched_setaffinity(thread, {core})


def _threads() -> set[int]:
    """Return the identifiers of the threads of this process."""
    try:
        return {int(entry.name) for entry in _TASKS.iterdir()}
    except OSError:  # /proc is not mounted
        return set()
