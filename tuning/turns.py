"""Turns of a machine's processes: several build and check at once, but only one times.

A turn is a lock on a file, which the system releases when its process ends, even after a crash.
Windows has no such locks, so try plans there with one process at a time.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from ..errors import CloptError
from ..files.caches import cache_folder

if sys.platform != "win32":
    import fcntl

CPU = "cpu"
"""The resource that all OpenCL runtimes for this machine's CPU share."""

_GATE = "gate"

MOST_WAIT = 600.0
"""Maximum seconds to wait for a turn; a trial takes a few seconds."""
_LOOK = 0.01
"""Seconds between attempts to take a lock."""


class TurnMissedError(CloptError):
    """A process did not get its turn, for example because a stopped process holds it."""


class Turns:
    """The turns of one process.

    Timing on the CPU waits until no other process works there, and keeps others from starting.
    Timing on another device waits only for processes that time on it, because builds do not disturb
    it.
    """

    def __init__(
        self, folder: Path | None = None, told: Callable[[bool], None] = lambda waits: None
    ) -> None:
        """`folder` holds the locks, by default in the user's cache.

        `told` is called with True when the process starts to wait for a turn, and with False when
        the wait ends.
        """
        self._folder = cache_folder("turns") if folder is None else folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._told = told
        self._gate = self._open(_GATE)
        self._cpu = self._open(CPU)

    def close(self) -> None:
        """Close the files of the locks."""
        os.close(self._gate)
        os.close(self._cpu)

    @contextmanager
    def beside_others(self) -> Generator[None]:
        """Hold a turn to build and check; within it, `alone` can be used."""
        self._join()
        try:
            yield
        finally:
            _unlock(self._cpu)

    @contextmanager
    def alone(self, resource: str) -> Generator[None]:
        """Hold a turn to time: on the CPU with `CPU`, on another device with its name."""
        if resource != CPU:
            file = self._open(sha256(resource.encode()).hexdigest()[:16])
            try:
                self._lock(file)
                yield
            finally:
                os.close(file)
            return
        _unlock(self._cpu)
        try:
            # A process that waits for the CPU holds the gate, so that no other one starts to work
            # meanwhile.
            self._lock(self._gate)
            self._lock(self._cpu)
            yield
        finally:
            _unlock(self._cpu)
            _unlock(self._gate)
            self._join()

    def _join(self) -> None:
        self._lock(self._gate, shared=True)
        self._lock(self._cpu, shared=True)
        _unlock(self._gate)

    def _lock(self, file: int, shared: bool = False) -> None:
        if _try_lock(file, shared):
            return
        self._told(True)
        end = time.monotonic() + MOST_WAIT
        while not _try_lock(file, shared):
            if time.monotonic() > end:
                raise TurnMissedError(
                    f"Another process has held the lock for timing for {MOST_WAIT / 60:g} "
                    "minutes. End it, or continue it if it is stopped; it holds one of the locks "
                    f"in {self._folder}."
                )
            time.sleep(_LOOK)
        self._told(False)

    def _open(self, name: str) -> int:
        return os.open(self._folder / f"{name}.lock", os.O_CREAT | os.O_RDWR, 0o600)


if sys.platform == "win32":

    def _try_lock(file: int, shared: bool) -> bool:
        return True

    def _unlock(file: int) -> None: ...

else:

    def _try_lock(file: int, shared: bool) -> bool:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
