"""Runs the RUN lines of lit tests inside pytest's process, about 17 times cheaper than `lit`.

`clopt`, `filecheck` and `not` are called as functions; any other command is a subprocess. A RUN
line may use the parts of lit's shell that our tests need: pipes, `&&`, `>`, `2>`, `2>&1`, `not`,
`%s` (the file), `%S` (its folder) and `%t` (a temporary path of its own).
"""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from filecheck.main import main as filecheck_main

from clopt.tools.opt import main as clopt_main
from support import process_state, processes

RUN_LINE = re.compile(r"^\s*//\s*RUN:\s*(.*?)\s*(\\?)$")
OPERATORS = {"|", "&&", ">", "2>", "2>&1"}


def pytest_configure(config: pytest.Config) -> None:
    """Check each test's process, also where only lit tests run."""
    if not config.pluginmanager.has_plugin("process-state"):
        config.pluginmanager.register(process_state, "process-state")


class Output(NamedTuple):
    """The exit code and output of a command."""

    code: int
    out: bytes
    err: bytes


class ScriptFailure(Exception):
    """A RUN line that did not succeed."""


@contextmanager
def _streams(stdin: bytes) -> Generator[tuple[io.BytesIO, io.BytesIO]]:
    saved = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(err, encoding="utf-8", write_through=True)
    try:
        yield out, err
    finally:
        # Detached, or the wrappers would close the bytes when they are collected.
        sys.stdout.detach()
        sys.stderr.detach()
        sys.stdin, sys.stdout, sys.stderr = saved


def _call(main: Callable[[list[str]], object], args: list[str], stdin: bytes) -> Output:
    code: object = 0
    with _streams(stdin) as (out, err):
        try:
            main(args)
        except SystemExit as leaving:
            code = leaving.code or 0
    return Output(code if isinstance(code, int) else 1, out.getvalue(), err.getvalue())


TOOLS: dict[str, Callable[[list[str]], object]] = {
    "clopt": clopt_main,
    "filecheck": lambda args: filecheck_main(["filecheck", *args]),
}


def run_command(words: list[str], stdin: bytes) -> Output:
    """Run one command of a RUN line."""
    name, *args = words
    if name == "not":
        result = run_command(args, stdin)
        return Output(int(result.code == 0), result.out, result.err)
    if name in TOOLS:
        return _call(TOOLS[name], args, stdin)
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    done = processes.run(words, input=stdin, capture_output=True, env=os.environ | {"PATH": path})
    return Output(done.returncode, done.stdout, done.stderr)


def _split(words: list[str], operator: str) -> Iterator[list[str]]:
    part: list[str] = []
    for word in words:
        if word == operator:
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _run_redirected(words: list[str], stdin: bytes) -> Output:
    operators = [i for i, word in enumerate(words) if word in OPERATORS]
    code, out, err = run_command(words[: operators[0]] if operators else words, stdin)
    for i in operators:
        if words[i] == "2>&1":
            # Nothing of ours writes to both, so the order within the sum does not matter.
            out, err = err + out, b""
        else:
            Path(words[i + 1]).write_bytes(out if words[i] == ">" else err)
            out, err = (b"", err) if words[i] == ">" else (out, b"")
    return Output(code, out, err)


def run_script(text: str) -> None:
    """Run a whole RUN line; raise `ScriptFailure` when a command of it fails, like `pipefail`."""
    lexer = shlex.shlex(text, posix=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    for pipeline in _split(list(lexer), "&&"):
        stdin = b""
        for words in _split(pipeline, "|"):
            result = _run_redirected(words, stdin)
            if result.code:
                report = (result.out + result.err).decode(errors="replace")
                raise ScriptFailure(f"{shlex.join(words)}: exit code {result.code}\n{report}")
            stdin = result.out


class RunLine(pytest.Item):
    """One RUN line of a test file."""

    text: str
    line: int

    def runtest(self) -> None:
        with TemporaryDirectory() as own:
            places = {"%s": str(self.path), "%S": str(self.path.parent), "%t": f"{own}/tmp"}
            run_script(re.sub("%[sSt]", lambda match: shlex.quote(places[match[0]]), self.text))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None):
        if isinstance(excinfo.value, ScriptFailure):
            return f"{self.path}:{self.line}: RUN: {self.text}\n{excinfo.value}"
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.line - 1, f"{self.path.name}:{self.line}"


class LitFile(pytest.File):
    """A test file: one item for each of its RUN lines."""

    def collect(self) -> Iterator[RunLine]:
        start, text = 0, ""
        for number, line in enumerate(self.path.read_text().splitlines(), 1):
            if match := RUN_LINE.match(line):
                start = start or number
                text += match[1] + " "
                if not match[2]:
                    item = RunLine.from_parent(self, name=f"RUN:{start}")
                    item.line, item.text = start, text.strip()
                    yield item
                    start, text = 0, ""


def pytest_collect_file(parent: pytest.Collector, file_path: Path) -> LitFile | None:
    if file_path.suffix == ".mlir" and "Inputs" not in file_path.parts:
        return LitFile.from_parent(parent, path=file_path)
    return None
