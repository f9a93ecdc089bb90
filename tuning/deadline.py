"""The time limit of a search.

A search checks its deadline before each step and while it waits for trials. Nothing begins in the
last seconds before it. Work that does not check, such as compiling a large model, is interrupted at
the deadline as if by Ctrl-C.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Collection, Generator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, as_completed, wait
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from threading import Timer, current_thread, main_thread
from typing import Any, TypeVar

T = TypeVar("T")

_MOST_GRACE = 2.0
"""Maximum seconds before a deadline in which nothing begins; most trials take less."""
_GRACE = 0.1
"""The same as a share of the time until the deadline."""


class TimeIsUpError(KeyboardInterrupt):
    """Raised at any point; not an Exception, like KeyboardInterrupt, so nothing swallows it."""


@dataclass(frozen=True)
class Deadline:
    """A point in time by the monotonic clock."""

    end: float = inf
    grace: float = 0.0
    """Seconds before the end in which nothing begins, so that work under way can end."""

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline in `seconds` from now; None means no limit."""
        if seconds is None:
            return cls()
        return cls(time.monotonic() + seconds, min(_MOST_GRACE, _GRACE * seconds))

    @property
    def left(self) -> float | None:
        """Seconds in which work may begin; None without a limit."""
        return self._until(self.grace)

    @property
    def is_over(self) -> bool:
        """Whether nothing may begin any more."""
        return self.left == 0

    def first_of(self, waiting: Collection[Future[T]]) -> list[Future[T]]:
        """Return the futures that have completed once there are any; none when time is up."""
        done, _ = wait(waiting, self.left, FIRST_COMPLETED)
        return [each for each in waiting if each in done]

    def in_time(self, waiting: Mapping[Future[T], Future[Any]]) -> Generator[Future[T]]:
        """Yield futures as they complete, until the deadline.

        `waiting` maps each future to the trial that it waits for. Trials that have not started once
        nothing may begin are cancelled; results after the deadline are dropped.
        """
        open_ = set(waiting)
        for grace in (self.grace, 0.0):
            try:
                for future in as_completed(open_, self._until(grace)):
                    open_.discard(future)
                    yield future
                return
            except TimeoutError:
                open_ = {future for future in open_ if not waiting[future].cancel()}

    def _until(self, grace: float) -> float | None:
        """Return the seconds until `grace` seconds before the end; None without a limit."""
        return None if self.end == inf else max(0.0, self.end - grace - time.monotonic())

    @contextmanager
    def enforced(self) -> Generator[None]:
        """Raise TimeIsUpError in the main thread at the deadline.

        This cannot interrupt a driver's call that does not return, or anything on Windows.
        """
        left = self._until(0.0)
        if left is None or current_thread() is not main_thread() or not _CAN_INTERRUPT:
            yield
            return
        is_armed = True

        def interrupt(number: int, frame: object) -> None:
            if is_armed:
                raise TimeIsUpError

        # Not SIGINT, because shells let background jobs ignore it.
        before = signal.signal(signal.SIGVTALRM, interrupt)
        ident = main_thread().ident
        timer = Timer(left, signal.pthread_kill, (ident, signal.SIGVTALRM))
        timer.daemon = True
        try:
            timer.start()
            yield
        finally:
            is_armed = False
            timer.cancel()
            timer.join()  # no signal is sent after this
            signal.signal(signal.SIGVTALRM, before)


NEVER = Deadline()

_CAN_INTERRUPT = hasattr(signal, "pthread_kill")
