"""Instrumentation of a pipeline: the IR after each pass, on the terminal or in files, and times."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .console import writing
from .foreign import is_ours
from .ir_diff import IRDiff
from .ir_text import module_text
from .tables import table, terminal


@dataclass
class PassInstrument:
    """The callback of a pass pipeline, which prints and dumps the IR after each pass and times it.

    `print_after` names the passes after which to print; None means all.
    """

    verify: bool = True
    print_after: Collection[str] | None = ()
    dump_dir: Path | None = None
    elide_larger_than: int | None = None
    diff: IRDiff | None = None
    """Prints what each pass changes."""
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
        if self.diff is not None:
            self.diff.show(name, module) if self._step else self.diff.start(module)
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
