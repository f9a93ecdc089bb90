"""Starts the slowest files first, so that no core waits for the last of them.

`pytest --record-durations` writes durations.json: the seconds that each slow file took on that
machine. A file that the table does not list starts before all others.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

TABLE = Path(__file__).parents[1] / "durations.json"
SLOW = 2.0
"""Files that take fewer seconds are not recorded: whenever they start, they end soon."""


def slowest_first(items: list[pytest.Item]) -> None:
    """Sort the tests by the recorded durations of their files; within a file nothing moves."""
    durations: dict[str, float] = json.loads(TABLE.read_text())
    items.sort(key=lambda item: -durations.get(_file(item.nodeid), float("inf")))


def _file(node: str) -> str:
    return node.partition("::")[0]


class Recorder:
    """A plugin that records how long each file of a run takes."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[_file(report.nodeid)] += report.duration

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        before: dict[str, float] = json.loads(TABLE.read_text())
        kept = {file: s for file, s in before.items() if (session.config.rootpath / file).exists()}
        merged = (kept | self.seconds).items()
        slow = {file: round(seconds, 1) for file, seconds in merged if seconds >= SLOW}
        ordered = dict(sorted(slow.items(), key=lambda entry: -entry[1]))
        TABLE.write_text(json.dumps(ordered, indent=2) + "\n")
