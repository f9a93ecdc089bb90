"""Locks between processes: files that one process at a time holds."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from .reading import NO_LINKS

if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)


@contextmanager
def lock_beside(path: Path) -> Generator[None]:
    """Hold the lock of a file, which is a hidden file beside it and stays there.

    The file itself can be replaced meanwhile. Raises OSError where the lock cannot be made.
    """
    lock = path.with_name(f".{path.name}.lock")
    # A link beside a model that somebody else packed would make a file elsewhere.
    file = os.open(lock, os.O_CREAT | os.O_RDWR | NO_LINKS, 0o666)
    try:
        _lock(file)
        yield
    finally:
        os.close(file)  # which unlocks it
