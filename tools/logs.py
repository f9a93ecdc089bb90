"""Log output of the tools on stderr: `-v`, `-q`, and progress by stage."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import Timer
from typing import Any

from rich.status import Status
from rich.text import Text

from ..messages.stages import CompilationStage, stage, stage_of
from .tables import terminal

LOGGER = logging.getLogger(__name__.partition(".")[0])
"""The parent of all loggers of clopt. In a tool: DEBUG with -v, ERROR with -q, else INFO."""

PATIENCE = 1.0
"""Seconds after which a running stage gets a line in output that is not a terminal."""


class SetLevel(argparse.Action):
    """The action of -v and -q; the last one counts."""

    def __call__(self, *_: Any) -> None:
        """Set the level of all loggers of clopt."""
        LOGGER.setLevel(self.const)


def is_quiet() -> bool:
    """Return whether the tool prints only errors."""
    return LOGGER.level >= logging.ERROR


@contextmanager
def logs_on_stderr(tool: str) -> Generator[None]:
    """Print clopt's log while the body runs, if -v sets that level."""
    level, handler = LOGGER.level, _Printer(tool)
    LOGGER.setLevel(logging.INFO)
    LOGGER.addHandler(handler)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(level)
        handler.close()


@contextmanager
def progress(text: str, animated: bool = True) -> Generator[None]:
    """Show the progress of the body: a spinner on a terminal, else a line for each stage.

    Stages get a line if they take longer than `PATIENCE`. Set `animated` to False for a body that
    measures times, because the spinner would take CPU time.
    """
    if LOGGER.level != logging.INFO:  # -q, or -v, which prints the whole log
        with stage(LOGGER, text):
            yield
        return
    console = terminal(stderr=True)
    if console.is_terminal and animated:
        with console.status(Text(text)) as status, _shown_by(_Spinner(status)), stage(LOGGER, text):
            yield
        return
    with _shown_by(_Lines()), stage(LOGGER, text):
        yield


@contextmanager
def _shown_by(handler: logging.Handler) -> Generator[None]:
    LOGGER.addHandler(handler)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        handler.close()


class _Printer(logging.Handler):
    """Prints the whole log, with -v."""

    def __init__(self, tool: str) -> None:
        super().__init__()
        self._tool = tool

    def emit(self, record: logging.LogRecord) -> None:
        if LOGGER.level <= logging.DEBUG:
            print(f"{self._tool}: {record.getMessage()}", file=sys.stderr)


class _Spinner(logging.Handler):
    """Shows the innermost stage beside a spinner."""

    def __init__(self, status: Status) -> None:
        super().__init__()
        self._status = status
        self._running: list[CompilationStage] = []

    def emit(self, record: logging.LogRecord) -> None:
        told = stage_of(record)
        if told is None:
            return
        if not told.is_over:
            self._running.append(told)
        elif told in self._running:
            self._running.remove(told)
        if self._running:
            self._status.update(Text(self._running[-1].text))


class _Lines(logging.Handler):
    """Prints a line for each stage that takes long, while it runs."""

    def __init__(self) -> None:
        super().__init__()
        self._timers: dict[CompilationStage, Timer] = {}

    def emit(self, record: logging.LogRecord) -> None:
        told = stage_of(record)
        if told is None:
            return
        if told.is_over:
            if timer := self._timers.pop(told, None):
                timer.cancel()
            return
        self._timers[told] = timer = Timer(PATIENCE, _print_stage, [told])
        timer.daemon = True
        timer.start()


def _print_stage(running: CompilationStage) -> None:
    if not running.is_over:
        print(f"{running.text} ...", file=sys.stderr, flush=True)
