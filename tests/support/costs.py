"""How much CPU time the tests take: a line in the summary, and the record that `tiers` reads."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Generator

import pytest

from support.tiers import COSTS, SHARE, function_of

BUDGET = 360
"""Seconds of CPU time that the default tier may take, of the 600 in 5 minutes on 2 cores: the rest
is for the installation, pyright, ruff and lit."""

_start = pytest.StashKey[float]()


def _cpu() -> float:
    """Return the seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Note when the test starts."""
    item.stash[_start] = _cpu()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Add the seconds to the report of the teardown, which pytest-xdist sends on."""
    try:
        return (yield)
    finally:
        item.user_properties.append(("cpu", _cpu() - item.stash[_start]))


class Summary:
    """Sums the seconds of a run, for its last lines and for the record."""

    def __init__(self, budget: float | None) -> None:
        self._budget = budget
        self._seconds: defaultdict[str, list[float]] = defaultdict(list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self._seconds[function_of(report.nodeid)] += dict(report.user_properties).values()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        folders: Counter[str] = Counter()
        for function, seconds in self._seconds.items():
            folder = function.partition("::")[0].rpartition("/")[0]
            folders["/".join(folder.split("/")[:2])] += sum(seconds)
        total = sum(folders.values())
        terminalreporter.write_line(f"CPU time of the tests: {total:.0f} s")
        if self._budget is not None and total > self._budget:
            terminalreporter.write_line(
                f"The default tier may take {self._budget:.0f} s on an idle machine; by folder:"
            )
            for folder, seconds in folders.most_common(12):
                terminalreporter.write_line(f"{seconds:8.1f} {folder}")

    def record(self) -> None:
        """Write the mean seconds of each function whose cases take more than its share."""
        before: dict[str, float] = json.loads(COSTS.read_text())
        means = {
            function: round(sum(seconds) / len(seconds), 3)
            for function, seconds in self._seconds.items()
            if sum(seconds) > SHARE and not function.startswith("lit_tests/")
        }
        kept = {function: s for function, s in before.items() if function not in self._seconds}
        COSTS.write_text(json.dumps(dict(sorted((kept | means).items())), indent=1) + "\n")
