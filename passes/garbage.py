"""Python's collector of reference cycles, slowed down while clopt compiles."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

# A module is many small objects that live until its end, and the collector visits them over and
# over: with Python's thresholds that is a fifth of compiling. With these, IR that a pass leaves
# behind stays for some megabytes at most.
_THRESHOLDS = (50_000, 20, 100)

_lock = Lock()
_usual = (0, 0, 0)
_users = 0


@contextmanager
def collected_rarely() -> Generator[None]:
    """Look for reference cycles less often; also a decorator. Threads may overlap.

    The process has its own thresholds back when the last body ends. A process that does not
    collect, or more rarely still, keeps to that.
    """
    global _usual, _users
    with _lock:
        if not _users:
            _usual = gc.get_threshold()
            gc.set_threshold(*map(_rarer, _usual, _THRESHOLDS))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                gc.set_threshold(*_usual)


def _rarer(usual: int, ours: int) -> int:
    return usual and max(usual, ours)  # 0 is never
