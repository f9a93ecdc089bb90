"""The time limit of a search.

A search checks its deadline before each step and while it waits for trials. Work that does not
check, such as compiling a large model, is interrupted as if by Ctrl-C.
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

GRACE = 10.0
"""Seconds that trials under way at the deadline may still take."""


class TimeIsUpError(KeyboardInterrupt):
    """Raised at any point; not an Exception, like KeyboardInterrupt, so nothing swallows it."""


@dataclass(frozen=True)
class Deadline:
    """A point in time by the monotonic clock."""

    end: float = inf

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline in `seconds` from now; None means no limit."""
        return cls() if seconds is None else cls(time.monotonic() + seconds)

    @property
    def left(self) -> float | None:
        """Seconds until the end; None without a limit."""
        return None if self.end == inf else max(0.0, self.end - time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.left == 0

    def first_of(self, waiting: Collection[Future[T]]) -> list[Future[T]]:
        """Return the futures that have completed once there are any; none when time is up."""
        done, _ = wait(waiting, self.left, FIRST_COMPLETED)
        return [each for each in waiting if each in done]

    def in_time(self, waiting: Mapping[Future[T], Future[Any]]) -> Generator[Future[T]]:
        """Yield futures as they complete, until the deadline.

        `waiting` maps each future to the trial that it waits for. At the deadline, trials that have
        not started are cancelled, and the others get `GRACE` more seconds; later results are
        dropped.
        """
        open_ = set(waiting)
        for seconds in (self.left, GRACE):
            try:
                for future in as_completed(open_, seconds):
                    open_.discard(future)
                    yield future
                return
            except TimeoutError:
                open_ = {future for future in open_ if not waiting[future].cancel()}

    @contextmanager
    def enforced(self) -> Generator[None]:
        """Raise TimeIsUpError in the main thread `GRACE` seconds after the deadline.

        This cannot interrupt a driver's call that does not return, or anything on Windows.
        """
        if self.left is None or current_thread() is not main_thread() or not _CAN_INTERRUPT:
            yield
            return
        is_armed = True

        def interrupt(number: int, frame: object) -> None:
            if is_armed:
                raise TimeIsUpError

        # Not SIGINT, because shells let background jobs ignore it.
        before = signal.signal(signal.SIGVTALRM, interrupt)
        ident = main_thread().ident
        timer = Timer(self.left + GRACE, signal.pthread_kill, (ident, signal.SIGVTALRM))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            is_armed = False
            timer.cancel()
            timer.join()  # no signal is sent after this
            signal.signal(signal.SIGVTALRM, before)


NEVER = Deadline()

_CAN_INTERRUPT = hasattr(signal, "pthread_kill")
