"""Explanations of the compiler's choices, as data for reports that also prints as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class ExplainedChoice(Enum):
    """The subject of a table."""

    LAYOUTS = "the layout of each value"
    TRANSFORMS = "the copies that only change layouts"
    PARTITION = "the operations that an accelerator computes"
    COSTS = "the costs of an accelerator's graphs"


@dataclass(frozen=True)
class ExplainedTable:
    """A table of choices."""

    choice: ExplainedChoice
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str

    def __str__(self) -> str:
        """Return columns as wide as their cells, with numbers aligned to the right."""
        widths = [max(map(len, cells)) for cells in zip(self.columns, *self.rows, strict=True)]
        lines = [self.title]
        for row in (self.columns, *self.rows):
            cells = [
                cell.rjust(width) if is_numeric(column) else cell.ljust(width)
                for cell, width, column in zip(row, widths, self.columns, strict=True)
            ]
            lines.append("  " + "  ".join(cells).rstrip())
        return "\n".join([*lines, self.caption])


def is_numeric(column: str) -> bool:
    """Return whether a column of a table holds numbers."""
    return column in ("us", "bytes")


@dataclass(frozen=True)
class ExplainedParameter:
    """A decision of a kernel's plan."""

    name: str
    value: str
    meaning: str
    domain: str
    """The possible values, in words."""


@dataclass(frozen=True)
class ExplainedPlan:
    """The plan of a kernel, and the reasons against other rules."""

    kernel: str
    rule: str
    version: int
    microseconds: float
    """The estimated time."""
    terms: Mapping[str, float]
    """Microseconds for each resource; they overlap."""
    parameters: Sequence[ExplainedParameter]
    others: Sequence[tuple[str, str]]
    """The rules before this one, each with the reason why it does not apply."""

    @property
    def estimate(self) -> str:
        """Return the estimated time and its terms as text."""
        terms = (f"{name} {time:.3g}" for name, time in self.terms.items())
        return f"estimated {self.microseconds:.3g} us ({', '.join(terms)})"

    def __str__(self) -> str:
        lines = [f"@{self.kernel}: {self.rule}, version {self.version}, {self.estimate}"]
        lines += [f"  {p.name} = {p.value}: {p.meaning}; {p.domain}" for p in self.parameters]
        lines += [f"  {rule} {verdict}" for rule, verdict in self.others]
        return "\n".join(lines)


Explanation: TypeAlias = str | ExplainedTable | ExplainedPlan
"""A sentence, a table or a plan."""
