"""Turns at enqueueing, for programs that share memory."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from types import TracebackType
from weakref import WeakValueDictionary

from ...errors import CloptError
from .environment import check_process

# The lock of each buffer that programs have as an arena, by the number of its root.
_LOCKS: WeakValueDictionary[int, Lock] = WeakValueDictionary()
_CHANGE = Lock()  # held for a look into a table: no wait needs a limit

MOST_WAIT = 3600.0
"""Seconds for the turns of other threads: an inference takes minutes on the slowest devices."""


class Turn:
    """Held while the commands of an inference are put on a queue.

    A program holds the locks of all of its arenas. All programs take locks in the same order, which
    excludes deadlocks.
    """

    def __init__(self, arenas: Iterable[int]):
        """`arenas` are the roots of a program's arenas."""
        with _CHANGE:
            self._locks = [_LOCKS.setdefault(root, Lock()) for root in sorted(set(arenas))]
        self._locks = self._locks or [Lock()]

    def __enter__(self) -> None:
        check_process()
        taken = 0
        try:
            for lock in self._locks:
                _take(lock)
                taken += 1
        except BaseException:  # such as Ctrl-C
            for lock in self._locks[:taken]:
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


def _take(lock: Lock) -> None:
    if not lock.acquire(True, MOST_WAIT):
        raise CloptError(
            f"Another thread has used the arena of this model for {MOST_WAIT / 60:g} minutes, as "
            "when a device hangs; end this process, and give models of other threads other arenas."
        )
