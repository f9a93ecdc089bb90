"""Watching a pipeline run: the IR after each pass, on the terminal or in files, and the times."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..dialects.cl.target_attr import abbreviated_target
from ..messages.source import ELIDED
from .console import writing
from .foreign import is_ours
from .tables import table, terminal

# A constant with several values, in hexadecimal or as a list, and the shape in its type.
_CONSTANT = re.compile(r'dense<(?:\[[^>]*\]|"0x[0-9A-F]*")>( : \w+<((?:\d+x)*))')


def elide(text: str, larger_than: int) -> str:
    """Return IR without the values of constants of more than `larger_than` elements."""
    # Works on the text, because operations may print their constants in any way.

    def shorten(constant: re.Match[str]) -> str:
        sizes = [int(size) for size in constant[2].split("x") if size]
        elided = prod(sizes) > larger_than
        return f"dense_resource<{ELIDED}>{constant[1]}" if elided else constant[0]

    return _CONSTANT.sub(shorten, text)


def module_text(module: ModuleOp, elide_larger_than: int | None) -> str:
    """Return the module as text, without constants of more than `elide_larger_than` elements."""
    with abbreviated_target(module):
        text = str(module)
    return (text if elide_larger_than is None else elide(text, elide_larger_than)) + "\n"


@dataclass
class Instrument:
    """The callback of a pass pipeline: prints and dumps the IR after each pass, and times it.

    `print_after` holds the names of the passes to print after; None stands for all of them.
    """

    verify: bool = True
    print_after: Collection[str] | None = ()
    dump_dir: Path | None = None
    elide_larger_than: int | None = None
    times: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    stage: str = "input"
    """The current step, for error messages."""
    running: ModulePass | None = None
    """The pass that is running, or that ran last while its result is verified."""

    _step: int = 0
    _started: float = 0.0
    _last_text: str = ""

    def __call__(
        self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
    ) -> None:
        if previous is not None:
            self.times.append((previous.name, time.perf_counter() - self._started))
            culprit = "clopt" if is_ours(previous) else type(previous).__module__
            self.stage = f"after pass {previous.name} (a bug in {culprit})"
        self._record(previous.name if previous else "input", module)
        if self.verify and previous is not None:
            module.verify()
        self.stage = f"pass {following.name}" if following else "output"
        self.running = following
        self._started = time.perf_counter()

    @contextmanager
    def timed(self, name: str) -> Generator[None]:
        """Add the time of the body to the table as the row `name`."""
        start = time.perf_counter()
        yield
        self.times.append((name, time.perf_counter() - start))

    def _record(self, name: str, module: ModuleOp) -> None:
        wanted = self._step > 0 and (self.print_after is None or name in self.print_after)
        if wanted or self.dump_dir:
            text = module_text(module, self.elide_larger_than)
            if wanted:
                unchanged = text == self._last_text
                title = f"// IR after {name}" + (" (unchanged)\n" if unchanged else "\n")
                sys.stderr.write(title + ("" if unchanged else text) + "\n")
            if self.dump_dir:
                with writing(self.dump_dir):
                    self.dump_dir.mkdir(parents=True, exist_ok=True)
                    (self.dump_dir / f"{self._step:02}-{name}.mlir").write_text(text)
            self._last_text = text
        self._step += 1


def print_times(times: list[tuple[str, float]]) -> None:
    """Print a table of seconds and shares on stderr."""
    total = sum(seconds for _, seconds in times)
    rows = table("step", "seconds", "share")
    for column in rows.columns[1:]:
        column.justify = "right"
    for name, seconds in [*times, ("total", total)]:
        rows.add_row(name, f"{seconds:.4f}", f"{seconds / total:.0%}" if total else "-")
    terminal(stderr=True).print(rows)
