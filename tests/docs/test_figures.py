"""Every figure of the documents is that of a result file, and every result file says its origin."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from figures import FIGURE, PAGES, RESULTS, ROOT, TABLE, figures, filled

from support import processes

FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
CODE = re.compile(r"`[^`\n]+`")
SOURCES = re.compile(r"^## Figures and their sources$.*", re.M | re.S)
"""Generated from the files of targets; tests/targets/test_facts.py checks the sources."""
MEASURED = re.compile(
    r"(?<![\w.])\d[\d.,]*(?:"
    r"\s*(?:ms|µs|us|s|seconds|minutes|[kMG]i?B|%|x|times)(?![\w-])"  # a number with a unit
    r"|e-?\d+"  # an error
    r"|,\d{3}(?!\d))"  # a count of thousands
)
ORIGIN = re.compile(r"^Measured on .+, \d{4}-\d\d-\d\d, at commit [0-9a-f]{7,}", re.M)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_figures_are_those_of_the_result_files(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert filled(text, figures()) == text, "run python docs/figures.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_figure_stands_outside_of_the_generated_ones(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for pattern in (FENCE, TABLE, CODE, FIGURE, SOURCES):
        text = pattern.sub("", text)
    assert MEASURED.findall(text) == []


@pytest.mark.parametrize("text", ["in 0.90 ms", "of 1,544 tests", "1.5e-2 off", "0.1 % more"])
def test_a_bare_figure_is_noticed(text: str) -> None:
    assert MEASURED.search(text)


@pytest.mark.parametrize("report", sorted(RESULTS.glob("*.md")), ids=lambda path: path.stem)
def test_a_result_says_where_it_is_from(report: Path) -> None:
    assert ORIGIN.search(report.read_text(encoding="utf-8"))


def test_the_page_shows_what_the_command_prints(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    (found,) = re.findall(
        r"```sh\n(clopt-compile [^`]*--memory-report [^`]*)```\n\n```\n(.*?)\n```", page, re.S
    )
    command, shown = found
    words = command.replace("\\\n", " ").replace("examples/", f"{ROOT}/examples/").split()
    main = "import sys; from clopt.tools.compile import main; main(sys.argv[1:])"
    done = processes.run(
        [sys.executable, "-c", main, *words[1:]],
        cwd=tmp_path,
        env=dict(os.environ),  # readline, which pytest loads, gives other children COLUMNS=80
        capture_output=True,
        text=True,
        check=True,
    )
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    assert [line for line in shown.splitlines() if line not in printed] == []
    assert (tmp_path / "memory.html").exists()
