"""Make one mistake after the other in a copy of clopt, and see which tests catch it.

    cd tests && python -m mutations -o mutations/results.md
    cd tests && python -m mutations --only texels         # some mistakes, by their names

The default tests come first, then those of the thorough form. A mistake is caught if a test fails
or takes longer than --seconds. --check runs the tests without any mistake before.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest

from mutations.table import ROOT, Mutation, mutations

TIERS = {"default": (), "thorough": ("--thorough",)}


class Copy:
    """A copy of the sources, in which tests run."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.root = folder / "clopt"
        self.seconds = seconds
        self.cache = folder / "cache"
        self.environment = os.environ | {
            "PYTHONPATH": str(folder),
            "XDG_CACHE_HOME": str(self.cache),
        }
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.root / name)

    def attempt(self, mutation: Mutation) -> tuple[str, str]:
        """Return the tier that catches a mistake, and its first test that fails; else ""."""
        path, wrong = self.root / mutation.file, mutation.text(self.root)
        right = path.read_text()
        try:
            self._write(path, wrong)
            for tier, options in TIERS.items():
                if failed := self.run(mutation.tests, options):
                    return tier, failed
            return "", ""
        finally:
            self._write(path, right)

    def run(self, tests: Sequence[str], options: Sequence[str]) -> str:
        """Return the first of some tests that fails, or ""."""
        shutil.rmtree(self.cache / "clopt", ignore_errors=True)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        with subprocess.Popen(
            [*command, *options, *tests],
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                printed, _ = process.communicate(timeout=self.seconds)
            except subprocess.TimeoutExpired:
                return f"no end after {self.seconds:g} s"
            finally:
                with suppress(ProcessLookupError):  # with all that the tests started
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return ""
        if process.returncode == pytest.ExitCode.USAGE_ERROR:
            sys.exit(printed)
        found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", printed, re.MULTILINE)
        return found[1] if found else "no test, as pytest ended"

    def _write(self, path: Path, content: str) -> None:
        path.write_text(content)
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()  # its time and size may be those of the file before


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        "python -m mutations", None, __doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, help="write the table to this file, too")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="mistakes with such a name")
    parser.add_argument("--seconds", type=float, default=1200, help="the limit of each tier")
    parser.add_argument("--check", action="store_true", help="run the tests without a mistake")
    options = parser.parse_args()
    chosen = [
        each
        for each in mutations()
        if not options.only or any(text in each.name for text in options.only)
    ]
    with tempfile.TemporaryDirectory(prefix="clopt-mutations-") as folder:
        copy = Copy(Path(folder), options.seconds)
        if options.check:
            _check(copy, chosen)
        rows: list[tuple[str, str, str]] = []
        for mutation in chosen:
            rows.append((mutation.name, *copy.attempt(mutation)))
            print(_row(*rows[-1]), flush=True)
    table = _table(rows)
    print(table.splitlines()[0])
    if options.output:
        options.output.write_text(table)


def _check(copy: Copy, chosen: Sequence[Mutation]) -> None:
    tests = list(dict.fromkeys(test for each in chosen for test in each.tests))
    for tier in TIERS.values():
        if failed := copy.run(tests, tier):
            sys.exit(f"Without a mistake there is a failure: {failed}")


def _table(rows: Sequence[tuple[str, str, str]]) -> str:
    """Return the results as a page."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    found = Counter(tier for _, tier, _ in rows)
    caught = ", ".join(f"the {tier} tests catch {found[tier]}" for tier in TIERS)
    return "\n".join(
        (
            f"Of {len(rows)} mistakes {caught}, and {found['']} are missed "
            f"(commit {commit.stdout.strip()}, {date.today()}).",
            "",
            "| mistake | tier | first test that fails |",
            "| --- | --- | --- |",
            *(_row(*row) for row in rows),
            "",
        )
    )


def _row(name: str, tier: str, test: str) -> str:
    return f"| {name} | {tier or 'missed'} | {test.replace('|', ' ')} |"


if __name__ == "__main__":
    main()
