"""Issue slots that an Adreno needs for one work-item of a kernel, counted in its instructions.

An instruction takes one slot, `(rptN)` repeats it N times, and `(nopN)` waits N slots. The contents
of a loop count once per iteration; both branches of a condition count. The instructions do not
contain trip counts, but clopt's kernel does: its loops are matched with the compiled ones, in
order. The compiler unrolls some loops into consecutive copies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from itertools import islice
from math import log

_FLAG = re.compile(r"\([a-z]+\d*\)")
_LABEL = re.compile(r"(l\d+):\s*")
_TARGET = re.compile(r"#(l\d+)")
_PREAMBLE_END = "shpe"
"""The end of the preamble, which runs once per wave instead of once per work-item."""
_PRODUCT = re.compile(r"mad\.f")
_FAST = re.compile(r"(mad|mul|add|min|max)\.f")
_WHOLE = re.compile(r"(?<!h)[rc]\d+\.[xyzw]")
"""A full float register: half instructions that use one convert."""
_ARITHMETIC = re.compile(r"(mad|mul|add|min|max)\.f|h?(rcp|rsq|sqrt|exp2|log2|sin|cos)\b")
_MOST_COPIES = 64
"""The compiler does not unroll loops with more trips."""
_MOST_MATCHES = 4096


@dataclass(frozen=True)
class Counts:
    """Slots of instructions, and the operations in them."""

    slots: int = 0
    products: int = 0
    """Multiply-adds."""
    halves: int = 0
    """Slots of arithmetic on halves only, which a GPU executes at twice the rate."""
    arithmetic: int = 0
    """Operations on floats, including multiply-adds."""

    def plus(self, other: Counts, times: int = 1) -> Counts:
        """Return these counts plus `times` the others."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Counts(*(mine + times * theirs for mine, theirs in pairs))

    @property
    def at_double_rate(self) -> float:
        """Slots if arithmetic on halves takes half a slot."""
        return self.slots - self.halves / 2


@dataclass(frozen=True)
class Loop:
    """A loop of a kernel that clopt generated."""

    trips: int
    inner: tuple[Loop, ...] = ()
    is_rolled: bool = False
    """Whether the bound is an argument, so that the compiler cannot unroll the loop."""


@dataclass(eq=False)
class Span:
    """A loop of instructions, or all instructions of a kernel."""

    first: int
    last: int
    inner: list[Span] = field(default_factory=list["Span"])
    own: Counts = Counts()
    """Counts of one run, without inner loops."""

    def total(self, trips: Mapping[Span, int]) -> Counts:
        """Return the counts of one run; a loop without known trips runs once."""
        counts = self.own
        for span in self.inner:
            counts = counts.plus(span.total(trips), trips.get(span, 1))
        return counts


@dataclass(frozen=True)
class Count:
    """The instructions that one work-item executes."""

    counts: Counts
    is_matched: bool
    """Whether the loops in the instructions match the kernel's; otherwise each counts once."""


def count(assembly: str, loops: Sequence[Loop], arithmetic: float) -> Count:
    """Count a kernel with these loops, whose work-item executes `operations` on floats.

    If several loops may have been unrolled, choose those for which the instructions come nearest to
    these operations.
    """
    code = code_of(assembly)
    found = list(islice(_matches(tuple(loops), tuple(code.inner)), _MOST_MATCHES))
    if not found:
        return Count(code.total({}), False)

    def distance(trips: Mapping[Span, int]) -> tuple[float, float]:
        done = code.total(trips).arithmetic
        return abs(log((done + 1) / (arithmetic + 1))), -sum(trips.values())

    return Count(code.total(min(found, key=distance)), True)


def code_of(assembly: str) -> Span:
    """Return the loop tree of a kernel's instructions, without loops of its preamble."""
    lines, labels, start = _instructions(assembly)
    end = next((i for i, line in enumerate(lines) if _name(line) == "end"), len(lines) - 1)
    lasts: dict[int, int] = {}
    for i, line in enumerate(lines[: end + 1]):
        target = _TARGET.search(line)
        first = labels.get(target[1], i + 1) if target else i + 1
        if first <= i:
            lasts[first] = i
    around = [Span(start, end)]
    spans = [*around]
    for first, last in sorted(lasts.items()):
        while around[-1].last < last:
            around.pop()
        span = Span(first, last)
        around[-1].inner.append(span)
        around.append(span)
        spans.append(span)
    for span in spans:
        inside = {i for inner in span.inner for i in range(inner.first, inner.last + 1)}
        for i in range(span.first, span.last + 1):
            if i not in inside:
                span.own = span.own.plus(_instruction(lines[i]))
    return spans[0]


def _instructions(assembly: str) -> tuple[list[str], dict[str, int], int]:
    """Return the instructions, the index of each label, and the index after the preamble."""
    lines: list[str] = []
    labels: dict[str, int] = {}
    start = 0
    for line in map(str.strip, assembly.splitlines()):
        if not line or line[0] in ";@":
            continue
        while label := _LABEL.match(line):
            labels[label[1]] = len(lines)
            line = line[label.end() :]
        if line:
            lines.append(line)
            if _name(line) == _PREAMBLE_END:
                start = len(lines)
    return lines, labels, start


def _name(line: str) -> str:
    return _FLAG.sub("", line).strip().partition(" ")[0]


def _instruction(line: str) -> Counts:
    name = _name(line)
    repeated, waits = (re.search(rf"\({flag}(\d+)\)", line) for flag in ("rpt", "nop"))
    times = 1 + int(repeated[1]) if repeated else 1
    is_fast = _FAST.match(name) and not _WHOLE.search(line)
    return Counts(
        times + (int(waits[1]) if waits else 0),
        times if _PRODUCT.match(name) else 0,
        times if is_fast else 0,
        times if _ARITHMETIC.match(name) else 0,
    )


def _matches(loops: tuple[Loop, ...], spans: tuple[Span, ...]) -> Iterator[dict[Span, int]]:
    """Return the ways to match all `spans` with `loops` in order, as trip counts."""
    if not loops:
        if not spans:
            yield {}
        return
    loop, *rest = loops
    if spans:
        for inner in _matches(loop.inner, tuple(spans[0].inner)):
            for others in _matches(tuple(rest), spans[1:]):
                yield {spans[0]: loop.trips} | inner | others
    if not loop.is_rolled and loop.trips <= _MOST_COPIES:
        # Copies of loops that contain no loops leave nothing to match.
        yield from _matches((*(loop.inner * loop.trips), *rest), spans)
