"""Cores for the threads of a runtime that leaves their placement to the operating system.

Linux may keep two threads of PoCL on one core for many inferences, while another core is idle.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

_TASKS = Path("/proc/self/task")


def running_threads() -> set[int]:
    """Return the identifiers of the threads of this process; none where Linux does not tell."""
    try:
        return {int(entry.name) for entry in _TASKS.iterdir()}
    except OSError:  # another system, or /proc is not mounted
        return set()


def pin_to_cores(threads: Collection[int]) -> None:
    """Pin each thread to a core of its own, if there is one for each core of the process.

    Otherwise the threads may move: other processes may need some of the cores more.
    """
    if sys.platform != "linux":
        return
    cores = sorted(os.sched_getaffinity(0))
    if len(threads) == len(cores):
        for thread, core in zip(sorted(threads), cores, strict=True):
            with suppress(OSError):  # the thread has ended, or a sandbox forbids it
                os.sched_setaffinity(thread, {core})
