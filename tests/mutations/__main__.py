"""Make one mistake after the other in a copy of clopt, and see whether its tests fail.

    cd tests && python -m mutations                 # what `pytest` runs
    cd tests && python -m mutations --thorough      # what `pytest --thorough` runs
    cd tests && python -m mutations --only texels   # some mistakes, by their names

The copy has its own caches. A mistake is caught if a test fails or takes longer than --seconds. The
tests pass without any mistake: --check tries that first.
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
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mutations.table import ROOT, Mutation, mutations

MISSED = "missed"


class Copy:
    """A copy of the sources, in which tests run."""

    def __init__(self, folder: Path, options: Sequence[str], seconds: float) -> None:
        self.root = folder / "clopt"
        self.options = options
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

    def attempt(self, mutation: Mutation) -> str:
        """Return the first test that fails with a mistake, or that none does."""
        path, wrong = self.root / mutation.file, mutation.text(self.root)
        right = path.read_text()
        try:
            self._write(path, wrong)
            return self.run(mutation.tests)
        finally:
            self._write(path, right)

    def run(self, tests: Sequence[str]) -> str:
        """Return the first of some tests that fails, or that none does."""
        shutil.rmtree(self.cache / "clopt", ignore_errors=True)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        with subprocess.Popen(
            [*command, *self.options, *tests],
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
        if process.returncode in (0, 5):  # 5: the tier has none of these tests
            return MISSED
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", printed, re.MULTILINE)
        return found[1] if found else printed[-300:]

    def _write(self, path: Path, content: str) -> None:
        path.write_text(content)
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()  # its time and size may be those of the file before


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        "python -m mutations", None, __doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--thorough", action="store_true", help="run the thorough tests, too")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="mistakes with such a name")
    parser.add_argument("--seconds", type=float, default=1200, help="the limit of each mistake")
    parser.add_argument("--check", action="store_true", help="run the tests without a mistake")
    options = parser.parse_args()
    chosen = [
        each
        for each in mutations()
        if not options.only or any(text in each.name for text in options.only)
    ]
    with tempfile.TemporaryDirectory(prefix="clopt-mutations-") as folder:
        tier = ["--thorough"] if options.thorough else []
        copy = Copy(Path(folder), tier, options.seconds)
        if options.check:
            tests = dict.fromkeys(test for each in chosen for test in each.tests)
            failed = copy.run(list(tests))
            if failed != MISSED:
                sys.exit(f"Without a mistake there is a failure: {failed}")
        missed = 0
        for number, mutation in enumerate(chosen, 1):
            result = copy.attempt(mutation)
            missed += result == MISSED
            print(f"| {number} | {mutation.name} | {result} |", flush=True)
        print(f"\n{len(chosen) - missed} of {len(chosen)} caught.")


if __name__ == "__main__":
    main()
