"""Processes that tests start: each ends within a limit, or the test fails."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LIMIT = 120.0
"""Seconds. A wait that takes as long, even on a busy machine, would never end."""


def run(command: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run a command as `subprocess.run` does, for at most `LIMIT` unless `timeout` is given."""
    return subprocess.run(command, **{"timeout": LIMIT} | options)


@contextmanager
def started(command: Sequence[str | Path], **options: Any) -> Generator[subprocess.Popen[Any]]:
    """Start a process for the body; kill it afterwards if it still runs."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.kill()
        process.wait(LIMIT)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def wait_until(condition: Callable[[], object], pause: float = 0.02) -> None:
    """Wait until the condition holds."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, f"waited for {LIMIT:.0f} s"
        time.sleep(pause)
