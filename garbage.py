"""Garbage collection in the command lines, which own their processes; the library changes none."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Generator
from contextlib import contextmanager

# A module is many small objects that live until its end, and the collector visits them in vain:
# with Python's thresholds that is a fifth of compiling (0.5 s of ResNet-50's 3 s, Zen 4), and every
# 50,000 objects still a tenth. IR that a pass has replaced is freed late, at most 100 megabytes.
_THRESHOLDS = (1_000_000, 20, 100)


@contextmanager
def collected_rarely() -> Generator[None]:
    """Look for reference cycles less often; also a decorator.

    A process that does not collect, or more rarely still, keeps to that.
    """
    usual = gc.get_threshold()
    gc.set_threshold(*map(_rarer, usual, _THRESHOLDS))
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def leave_to_the_system() -> None:
    """Free no reference cycles when the process ends, since the system frees its memory.

    Python would visit all objects several times, which takes 30 ms of a start that compiles
    nothing, and 0.2 s after compiling ResNet-50 (Zen 4).
    """
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def _rarer(usual: int, ours: int) -> int:
    return usual and max(usual, ours)  # 0 is never
