"""The processor time of this process."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

_THREADS = Path("/proc/self/task")
_SCHEDULED_THREAD = 0b110
"""The clock of a thread in Linux: the complement of the thread's number, and these three bits."""


def processor_seconds() -> float:
    """Return the processor time of all threads of this process, in seconds.

    Linux counts other threads that are running only up to their last timer tick, which may be 4 ms
    ago: `time.process_time` halved the time of short kernels whose second thread waits without
    sleeping (Intel's runtime). Reading the clock of such a thread updates what it counts.
    """
    with suppress(OSError):  # other systems, or a thread that just ended
        for thread in os.listdir(_THREADS):
            time.clock_gettime(~int(thread) << 3 | _SCHEDULED_THREAD)
    return time.process_time()
