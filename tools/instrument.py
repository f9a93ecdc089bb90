"""Watching a pipeline run: the IR after each pass, on the terminal or in files, and the times."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any, cast

from rich.console import Console
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, DenseResourceAttr, ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from .console import table

ELIDED = "__elided__"


class ElidingPrinter(Printer):
    """Prints constants of more than `elide_larger_than` elements without their values."""

    elide_larger_than: int = sys.maxsize

    def print_attribute(self, attribute: Attribute) -> None:
        super().print_attribute(self._elided(attribute))

    def _elided(self, attribute: Attribute) -> Attribute:
        if not isinstance(attribute, DenseIntOrFPElementsAttr):
            return attribute
        dense = cast("DenseIntOrFPElementsAttr[Any]", attribute)
        if dense.type.element_count() <= self.elide_larger_than or dense.is_splat():
            return dense
        return DenseResourceAttr.from_params(ELIDED, dense.type)


def module_text(module: ModuleOp, elide_larger_than: int) -> str:
    """The module as text, large constants left out."""
    stream = StringIO()
    printer = ElidingPrinter(stream=stream)
    printer.elide_larger_than = elide_larger_than
    printer.print_op(module)
    return stream.getvalue() + "\n"


@dataclass
class Instrument:
    """The callback of a pass pipeline: prints, dumps and times what each pass did.

    `print_after` holds the names of the passes to print after; None stands for all of them.
    """

    verify: bool = True
    print_after: Collection[str] | None = ()
    dump_dir: Path | None = None
    elide_larger_than: int = 64
    times: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])
    stage: str = "input"
    """What is going on, for error messages."""

    _step: int = 0
    _started: float = 0.0
    _last_text: str = ""

    def __call__(
        self, previous: ModulePass | None, module: ModuleOp, following: ModulePass | None
    ) -> None:
        if previous is not None:
            self.times.append((previous.name, time.perf_counter() - self._started))
            self.stage = f"after pass {previous.name} (a bug in clopt)"
        self._record(previous.name if previous else "input", module)
        if self.verify and previous is not None:
            module.verify()
        self.stage = f"pass {following.name}" if following else "output"
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
                self.dump_dir.mkdir(parents=True, exist_ok=True)
                (self.dump_dir / f"{self._step:02}-{name}.mlir").write_text(text)
            self._last_text = text
        self._step += 1


def print_times(times: list[tuple[str, float]]) -> None:
    """A table of seconds and shares on stderr."""
    total = sum(seconds for _, seconds in times)
    rows = table("step", "seconds", "share")
    for column in rows.columns[1:]:
        column.justify = "right"
    for name, seconds in [*times, ("total", total)]:
        rows.add_row(name, f"{seconds:.4f}", f"{seconds / total:.0%}" if total else "-")
    Console(stderr=True).print(rows)
