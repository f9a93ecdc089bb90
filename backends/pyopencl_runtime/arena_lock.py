"""Locks that serialise the enqueueing of programs that share memory."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from types import TracebackType
from weakref import WeakValueDictionary

from ...errors import CloptError
from .environment import check_process

# The lock of each buffer that programs use as an arena, keyed by `BufferMemory.root`.
_LOCKS: WeakValueDictionary[int, Lock] = WeakValueDictionary()
_TABLE_LOCK = Lock()  # held only for a table access, so waiting for it needs no limit

MOST_WAIT = 3600.0
"""Longest wait in seconds for other threads: an inference takes minutes on the slowest devices."""


class ArenaLock:
    """The locks of a program's arenas, held while the commands of an inference are enqueued.

    All programs acquire locks in the same order, which excludes deadlocks.
    """

    def __init__(self, arenas: Iterable[int]):
        """Create the lock of a program from the roots of its arenas."""
        with _TABLE_LOCK:
            self._locks = [_LOCKS.setdefault(root, Lock()) for root in sorted(set(arenas))]
        self._locks = self._locks or [Lock()]

    def __enter__(self) -> None:
        check_process()
        acquired = 0
        try:
            for lock in self._locks:
                _acquire(lock)
                acquired += 1
        except BaseException:  # also for KeyboardInterrupt
            for lock in self._locks[:acquired]:
                lock.release()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for lock in self._locks:
            lock.release()


def _acquire(lock: Lock) -> None:
    if not lock.acquire(True, MOST_WAIT):
        raise CloptError(
            f"Another thread has used the arena of this model for {MOST_WAIT / 60:g} minutes, "
            "perhaps because the device hangs; end this process, and let models in other threads "
            "use separate arenas."
        )
