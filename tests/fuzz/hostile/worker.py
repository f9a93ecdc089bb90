"""Checks files in another process: what crashes it or never ends is a fault like others."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection

from .check import CHECKS, SECONDS, Outcome

_PATIENCE = 10
"""How often the seconds of CPU time that a file has may pass before the process counts as stuck."""


def outcomes(kind: str, seeds: Sequence[int]) -> Iterator[tuple[int, Outcome]]:
    """What becomes of the files that `seeds` draw, one after the other."""
    waiting = list(seeds)
    while waiting:
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(
            target=_serve, args=(kind, waiting, theirs), daemon=True
        )
        process.start()
        theirs.close()
        try:
            while waiting:
                if not ours.poll(_PATIENCE * SECONDS):
                    break
                outcome: Outcome = ours.recv()
                yield waiting.pop(0), outcome
        except (EOFError, OSError):
            pass
        process.kill()
        process.join(60)
        if waiting:
            yield waiting.pop(0), Outcome("fault", f"the process ended: {process.exitcode}", "dead")


def _serve(kind: str, seeds: Sequence[int], pipe: Connection) -> None:
    for seed in seeds:
        pipe.send(CHECKS[kind](seed))
