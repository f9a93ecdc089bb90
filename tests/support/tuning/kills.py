"""Processes killed at random while plans are tried, and what of the results must not change."""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from clopt.tuning.trial import Fault, Result


@contextmanager
def killing(
    victims: Callable[[], list[int]], pause: float, rounds: int, seed: int
) -> Iterator[list[int]]:
    """Kill two of the processes at a time, about every `pause` seconds and at most `rounds` times.

    Gives those that were killed.
    """
    draw, stop, killed = random.Random(seed), Event(), list[int]()

    def kill() -> None:
        for _ in range(rounds):
            if stop.wait(pause * draw.uniform(0.5, 1.5)):
                return
            found = victims()
            for pid in draw.sample(found, min(2, len(found))):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    thread = Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        stop.set()
        thread.join(60)


def database(results: Iterable[Result]) -> Counter[tuple[str, str, float | None, Fault | None]]:
    """What results say, but for what differs from run to run."""
    return Counter((r.kernel, str(r.plan), r.microseconds, r.fault) for r in results)
