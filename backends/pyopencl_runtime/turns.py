"""Turns at enqueueing, for programs that share memory."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from types import TracebackType
from weakref import WeakValueDictionary

from .environment import check_process

# The lock of each buffer that programs have as an arena, by the number of its root.
_LOCKS: WeakValueDictionary[int, Lock] = WeakValueDictionary()
_CHANGE = Lock()


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
        for lock in self._locks:
            lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for lock in self._locks:
            lock.release()
