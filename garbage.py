"""Garbage collection in the command lines; the library never changes the collector's settings."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Generator
from contextlib import contextmanager

# A module consists of many small objects that live until its end, so collections find nothing. With
# Python's thresholds they take a fifth of a compilation (0.5 s of 3 s for ResNet-50, Zen 4), and
# with a threshold of 50,000 objects still a tenth. Replaced IR is freed later, which costs at most
# 100 megabytes.
_THRESHOLDS = (1_000_000, 20, 100)


@contextmanager
def collected_rarely() -> Generator[None]:
    """Collect reference cycles less often in the body; also a decorator.

    If the process has disabled collection, or collects even less often, this changes nothing.
    """
    usual = gc.get_threshold()
    gc.set_threshold(*map(_rarer, usual, _THRESHOLDS))
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def leave_to_the_system() -> None:
    """Skip the last collection when the process ends, since the system frees its memory anyway.

    Python would visit all objects several times. That takes 30 ms after a start from the cache, and
    0.2 s after compiling ResNet-50 (Zen 4).
    """
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def _rarer(usual: int, ours: int) -> int:
    return usual and max(usual, ours)  # 0 is never
