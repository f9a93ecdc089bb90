"""Locks between processes: files that one process holds at a time."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from .reading import NO_LINKS

_MOST_WAIT = 60.0
"""Maximum seconds to wait for a lock; processes hold it while they write a file."""
_LOOK = 0.01

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def lock_beside(path: Path) -> Generator[None]:
    """Hold the lock of a file: a hidden file beside it, which is never removed.

    The file itself may be replaced meanwhile. Raises OSError if the lock file cannot be created,
    and TimeoutError, an OSError, if another process holds it for a minute.
    """
    lock = path.with_name(f".{path.name}.lock")
    # A link in a downloaded archive could create a file elsewhere.
    file = os.open(lock, os.O_CREAT | os.O_RDWR | NO_LINKS, 0o666)
    try:
        end = time.monotonic() + _MOST_WAIT
        while not _try_lock(file):
            if time.monotonic() > end:
                said = f"another process has kept {lock} locked for {_MOST_WAIT:g} s"
                raise TimeoutError(errno.ETIMEDOUT, said)
            time.sleep(_LOOK)
        yield
    finally:
        os.close(file)  # which unlocks it
