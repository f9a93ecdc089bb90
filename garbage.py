"""Garbage collection while a module is in work, and at the end of a tool."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

# A module is many small objects that live until its end, and the collector visits them in vain:
# with Python's thresholds that is a fifth of compiling, and every 50,000 objects still a tenth.
# The price: IR that a pass has replaced is freed late; it adds up to 100 megabytes at most.
_THRESHOLDS = (1_000_000, 20, 100)

_OLDEST = 2

_lock = Lock()
_usual = _raised = (0, 0, 0)
_users = 0
_aged_at = -1
"""The number of full collections when objects last became old without one."""


@contextmanager
def collected_rarely() -> Generator[None]:
    """Look for reference cycles less often; also a decorator. Threads may overlap.

    The process has its own thresholds back when the last body ends, unless it has set others
    meanwhile. A process that does not collect, or more rarely still, keeps to that.
    """
    global _raised, _usual, _users
    with _lock:
        if not _users:
            _usual = gc.get_threshold()
            gc.set_threshold(*map(_rarer, _usual, _THRESHOLDS))
            _raised = gc.get_threshold()
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users and gc.get_threshold() == _raised:
                gc.set_threshold(*_usual)
                _age()


def leave_to_the_system() -> None:
    """Free no reference cycles when the process ends, since the system frees its memory.

    Python would visit all objects several times, which takes 30 ms of a start that compiles
    nothing, and 0.2 s after compiling ResNet-50 (Zen 4).
    """
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


def _age() -> None:
    """Make all objects old, so that the usual thresholds do not have the collector visit them now.

    That visit takes 0.1 s after compiling MobileNetV2, to find garbage that takes 25 megabytes. It
    waits for a full collection instead, and until there was one, nothing becomes old again. Nor
    does it where a process has frozen objects, which would thaw.
    """
    global _aged_at
    collections = gc.get_stats()[_OLDEST]["collections"]
    if collections != _aged_at and not gc.get_freeze_count():
        _aged_at = collections
        gc.freeze()
        gc.unfreeze()


def _rarer(usual: int, ours: int) -> int:
    return usual and max(usual, ours)  # 0 is never
