"""Stages of long computations in the log: what runs now, and how long it took."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(eq=False)
class CompilationStage:
    """A part of a computation; the log records of its start and end have it as `stage`."""

    text: str
    is_over: bool = False


@contextmanager
def stage(logger: logging.Logger, text: str) -> Generator[None]:
    """Log the start of the body, and its duration at the end."""
    if not logger.isEnabledFor(logging.INFO):
        yield
        return
    running, start = CompilationStage(text), time.perf_counter()
    logger.info("%s", text, extra={"stage": running})
    try:
        yield
    finally:
        running.is_over = True
        seconds = time.perf_counter() - start
        logger.info("%s: %.2f s", text, seconds, extra={"stage": running})


def stage_of(record: logging.LogRecord) -> CompilationStage | None:
    """Return the stage that starts or ends with a record."""
    found = vars(record).get("stage")
    return found if isinstance(found, CompilationStage) else None
