"""The progress of a search: a bar on a terminal, a line for each stage elsewhere."""

from __future__ import annotations

import math
import sys
import time

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ...tuning import session
from ...tuning.session import Budget
from .. import logs
from ..logs import is_quiet
from ..tables import terminal


class SearchDisplay:
    """Shows the progress and the gain of a search on a terminal."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._start = time.monotonic()
        self._before = 0
        """Trials of the stage before."""
        is_terminal = terminal(stderr=True).is_terminal
        self._has_lines = not (is_terminal or is_quiet())
        self._stage, self._due = "", math.inf
        """What is tried now, and when a line in a pipe is due that tells of it."""
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=terminal(stderr=True),
            disable=not is_terminal or is_quiet(),
        )
        self._row = self._bar.add_task("the first plans", total=budget.seconds or budget.trials)

    def __enter__(self) -> SearchDisplay:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def tell_choices(self, trials: int) -> None:
        """Show how many other networks were tried."""
        self._before = trials
        self._tell_stage("trying other choices in the network")
        self._update(trials, f"{trials} other networks")

    def tell(self, now: session.Progress) -> None:
        """Show the result of a trial."""
        self._tell_stage("trying plans of kernels")
        share = now.saved / now.total if now.total else 0.0
        self._update(
            self._before + now.trials,
            f"{now.trials} plans, kernels {share:.1%} shorter; @{now.search.task.name}",
        )

    def _tell_stage(self, text: str) -> None:
        now = time.monotonic()
        if text != self._stage:
            self._stage, self._due = text, now + logs.PATIENCE
        if self._has_lines and now >= self._due:
            self._due = math.inf
            print(f"{text} ...", file=sys.stderr, flush=True)

    def _update(self, trials: int, text: str) -> None:
        by_time = self._budget.seconds is not None
        done = time.monotonic() - self._start if by_time else trials
        self._bar.update(self._row, completed=done, description=text)
