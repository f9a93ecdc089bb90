"""What docs/expectations.md says of clopt is there: options, their values and names of Python."""

from __future__ import annotations

import argparse
import inspect
import re
import shlex
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import clopt
from clopt.tools import compile, opt, run
from clopt.tools.reduce import __main__ as reduce
from clopt.tools.tune import __main__ as tune

PAGE = Path(__file__).parents[2] / "docs" / "expectations.md"
ROW = re.compile(r"^\| (?P<theirs>.+?) \| (?P<ours>.+) \|$", re.M)
CODE = re.compile(r"`([^`]+)`")
TOOLS: dict[str, Callable[[list[str]], None]] = {
    "clopt": opt.main,
    "clopt-run": run.main,
    "clopt-compile": compile.main,
    "clopt-reduce": reduce.main,
    "clopt-tune": tune.main,
}
ROWS = [row for row in ROW.findall(PAGE.read_text(encoding="utf-8")) if row[1] != "in clopt"]
SET_BY_INIT = re.findall(r"\bself\.(\w+)[, ]", inspect.getsource(clopt.CompiledModel.__init__))
SPANS = [span for _, ours in ROWS for span in CODE.findall(ours)]


@cache
def options_of(tool: str, subcommand: str) -> dict[str, argparse.Action]:
    """Return the options of a command line's parser, which printing its help reveals."""
    found: dict[str, argparse.Action] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            argparse.ArgumentParser,
            "print_help",
            lambda parser, file=None: found.update(parser._option_string_actions),
        )
        with pytest.raises(SystemExit):
            TOOLS[tool]([*([subcommand] if subcommand else []), "--help"])
    return found


def missing(command: str) -> list[str]:
    """Return the options of a command, and the values of theirs, that its parser refuses."""
    tool, *words = shlex.split(command)
    subcommand = words[0] if tool == "clopt-tune" and words[0] in tune.COMMANDS else ""
    known = options_of(tool, subcommand or ("search" if tool == "clopt-tune" else ""))
    found = [word for word in words if word.startswith("-") and word not in known]
    for word, value in pairwise(words):
        if word in known and (choices := known[word].choices) and value not in choices:
            found.append(value)
    return found


def resolve(span: str) -> list[str]:
    """Return the keywords of a span such as `clopt.load(device=)` that the function lacks."""
    path, _, keywords = span.partition("(")
    value: Any = {"clopt": clopt, "model": clopt.CompiledModel}[path.split(".")[0]]
    for name in path.split(".")[1:]:
        if value is clopt.CompiledModel and name in SET_BY_INIT:
            return []
        assert hasattr(value, name), span
        value = getattr(value, name)
    named = re.findall(r"(\w+)=", keywords)
    return [name for name in named if name not in inspect.signature(value).parameters]


@pytest.mark.parametrize("tool", TOOLS)
def test_every_option_of_the_page_is_one_of_the_tool(tool: str) -> None:
    commands = [span for span in SPANS if span.split()[0] == tool]
    assert commands
    assert {command: missing(command) for command in commands if missing(command)} == {}


def test_the_benchmarks_of_the_comparison_are_there() -> None:
    text = (PAGE.parent / "comparison.md").read_text(encoding="utf-8")
    commands = re.findall(r"python (benchmarks/\w+\.py)([^`\n]*)", text)
    assert len(commands) > 7
    for script, words in commands:
        source = (PAGE.parents[1] / script).read_text(encoding="utf-8")
        assert [o for o in re.findall(r"--[\w-]+", words) if f'("{o}"' not in source] == [], script
    assert [command for command in re.findall(r"`(clopt-.+?)`", text) if missing(command)] == []


def test_every_name_of_python_on_the_page_resolves() -> None:
    names = [span for span in SPANS if re.match(r"(clopt|model)\.(?!tuning)\w", span)]
    assert len(names) > 15
    assert {name: resolve(name) for name in names if resolve(name)} == {}


def test_every_row_answers() -> None:
    kinds = ("absent: ", "always on", "nothing to ", "in C, ", "the default", "entry points ")
    for theirs, ours in ROWS:
        spans = [span for span in CODE.findall(ours) if span.split()[0] in TOOLS]
        assert (
            spans
            or ours.startswith(kinds)
            or "`clopt." in ours
            or "](" in ours
            or ("`model." in ours)
        ), theirs


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("clopt-run --time 3 --tims", ["--tims"]),
        ("clopt-compile --emit vmfb", ["vmfb"]),
        ("clopt-tune show --trials 3", ["--trials"]),
    ],
)
def test_an_option_that_is_not_there_is_noticed(command: str, wrong: list[str]) -> None:
    assert missing(command) == wrong


def test_a_keyword_that_is_not_there_is_noticed() -> None:
    assert resolve("clopt.load(device=, dims=)") == ["dims"]
