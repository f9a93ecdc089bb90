"""Explanations of the compiler's choices, as data for reports that also prints as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

_MOST_ALTERNATIVES = 3
_MOST_LETTERS = 48
"""Longest text of nodes in a table."""


class Why(Enum):
    """What a choice follows."""

    DEMANDED = "demanded"
    """The user's choices."""
    MEASURED = "measured"
    """Times of a tuning database."""
    ESTIMATED = "estimated"
    """Times by the model of the target."""
    RULE = "rule"
    """A fixed rule of the pass."""
    LIMIT = "limit"
    """A limit on memory."""


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
    def costs(self) -> str:
        """Return the terms as text."""
        return ", ".join(f"{name} {time:.3g}" for name, time in self.terms.items())

    @property
    def estimate(self) -> str:
        """Return the estimated time and its terms as text."""
        return f"estimated {self.microseconds:.3g} us ({self.costs})"

    def __str__(self) -> str:
        lines = [f"@{self.kernel}: {self.rule}, version {self.version}, {self.estimate}"]
        lines += [f"  {p.name} = {p.value}: {p.meaning}; {p.domain}" for p in self.parameters]
        lines += [f"  {rule} {verdict}" for rule, verdict in self.others]
        return "\n".join(lines)


@dataclass(frozen=True)
class Reason:
    """Why a pass made a choice."""

    why: Why = Why.RULE
    times: Mapping[str, float | None] = field(default_factory=dict[str, "float | None"])
    """Microseconds of the choices of the site, None where they are unknown."""
    remark: str = ""
    choice: str = ""
    """The choice as `times` calls it, if not as files of choices do."""
    plan: ExplainedPlan | None = None


@dataclass(frozen=True)
class Explanation:
    """A choice at a site, or its consequence elsewhere."""

    kind: str
    site: str
    """The digest as in a file of choices; empty if other choices decide this one."""
    nodes: str
    choice: str
    reason: Reason

    @property
    def microseconds(self) -> float | None:
        """The time of the choice, if known."""
        return self.reason.times.get(self.choice)

    @property
    def alternatives(self) -> list[tuple[str, float | None]]:
        """The other choices, the fastest first, then those of unknown times."""
        others = [(name, us) for name, us in self.reason.times.items() if name != self.choice]
        return sorted(others, key=lambda each: float("inf") if each[1] is None else each[1])


@dataclass(frozen=True)
class ExplainedSummary:
    """A sentence about all choices of a kind."""

    kind: str
    text: str


Explained: TypeAlias = Explanation | ExplainedSummary
Show: TypeAlias = Callable[[Sequence[Explained]], Sequence[object]]
"""A view of explanations that prints."""


@dataclass(frozen=True)
class ExplainedTable:
    """All explanations of a kind: a row for each choice, in program order."""

    kind: str
    counts: str
    """How many choices follow what, such as `2 demanded, 40 estimated`."""
    summaries: Sequence[str]
    rows: Sequence[Sequence[str]]

    columns = ("site", "nodes", "choice", "us", "why", "alternatives", "remark")

    def __str__(self) -> str:
        """Return columns as wide as their cells, with times aligned to the right.

        Nodes of many names are cut.
        """
        short = ([site, _cut(nodes), *rest] for site, nodes, *rest in self.rows)
        rows = (self.columns, *short) if self.rows else ()
        widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
        lines = [f"{self.kind}: {self.counts}" if self.rows else self.kind, *self.summaries]
        for row in rows:
            cells = [
                cell.rjust(width) if is_numeric(column) else cell.ljust(width)
                for cell, width, column in zip(row, widths, self.columns, strict=True)
            ]
            lines.append("  " + "  ".join(cells).rstrip())
        return "\n".join(lines)


def plans_of(explained: Iterable[Explained]) -> list[ExplainedPlan]:
    """Return the plans of kernels in all detail."""
    reasons = (each.reason for each in explained if isinstance(each, Explanation))
    return [reason.plan for reason in reasons if reason.plan is not None]


def is_numeric(column: str) -> bool:
    """Return whether a column of a table holds numbers."""
    return column == "us"


def tables(explained: Iterable[Explained]) -> list[ExplainedTable]:
    """Return a table for each kind, in the order in which the passes decide."""
    by_kind: dict[str, list[Explained]] = {}
    for each in explained:
        by_kind.setdefault(each.kind, []).append(each)
    return [_table(kind, several) for kind, several in by_kind.items()]


def _table(kind: str, explained: Sequence[Explained]) -> ExplainedTable:
    choices = [each for each in explained if isinstance(each, Explanation)]
    counts = Counter(each.reason.why.value for each in choices)
    repeated = {each.site.removesuffix("#2") for each in choices if each.site.endswith("#2")}
    return ExplainedTable(
        kind,
        ", ".join(f"{count} {why}" for why, count in counts.items()),
        [each.text for each in explained if isinstance(each, ExplainedSummary)],
        [_row(each, repeated) for each in choices],
    )


def _row(each: Explanation, repeated: set[str]) -> list[str]:
    digest = each.site.partition("#")[0]
    others = [f"{name} {_number(us)}".rstrip() for name, us in each.alternatives]
    more = len(others) - _MOST_ALTERNATIVES
    return [
        each.site if digest in repeated else digest,
        each.nodes,
        each.choice,
        _number(each.microseconds),
        each.reason.why.value,
        "; ".join([*others[:_MOST_ALTERNATIVES], *([f"{more} more"] if more > 0 else [])]),
        each.reason.remark,
    ]


def _cut(nodes: str) -> str:
    return nodes if len(nodes) <= _MOST_LETTERS else f"{nodes[: _MOST_LETTERS - 3]}..."


def _number(microseconds: float | None) -> str:
    return "" if microseconds is None else f"{microseconds:.2f}"
