"""How many issue slots an Adreno needs for one work-item of a kernel, from its instructions.

An instruction takes a slot, `(rptN)` repeats it N times, `(nopN)` waits N slots. What a loop
contains counts as often as the loop runs; both sides of a condition count. The instructions do not
tell how often a loop runs, but our kernel does: its loops are matched with theirs, in order. The
compiler unrolls some of them into copies that follow each other.
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
"""The instructions up to it run once for a wave, not for each work-item."""
_PRODUCT = re.compile(r"mad\.f")
_FAST = re.compile(r"(mad|mul|add|min|max)\.f")
_WHOLE = re.compile(r"(?<!h)[rc]\d+\.[xyzw]")
"""A register of floats: with one an instruction converts."""
_ARITHMETIC = re.compile(r"(mad|mul|add|min|max)\.f|h?(rcp|rsq|sqrt|exp2|log2|sin|cos)\b")
_MOST_COPIES = 64
"""The compiler does not unroll loops of more trips."""
_MOST_MATCHES = 4096


@dataclass(frozen=True)
class Counts:
    """Slots of instructions, and what is in them."""

    slots: int = 0
    products: int = 0
    """Multiply-adds."""
    halves: int = 0
    """Slots of arithmetic on halves alone, which a GPU does at twice the rate."""
    arithmetic: int = 0
    """Operations on floats, multiply-adds too."""

    def plus(self, other: Counts, times: int = 1) -> Counts:
        """Return these counts plus `times` the others."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Counts(*(mine + times * theirs for mine, theirs in pairs))

    @property
    def at_double_rate(self) -> float:
        """Slots where arithmetic on halves takes half of one."""
        return self.slots - self.halves / 2


@dataclass(frozen=True)
class Loop:
    """A loop of our kernel."""

    trips: int
    inner: tuple[Loop, ...] = ()
    is_rolled: bool = False
    """Whether its bound is an argument, so that the compiler cannot unroll it."""


@dataclass(eq=False)
class Span:
    """A loop of instructions, or all of a kernel's."""

    first: int
    last: int
    inner: list[Span] = field(default_factory=list["Span"])
    own: Counts = Counts()
    """Of one run, without the inner loops."""

    def total(self, trips: Mapping[Span, int]) -> Counts:
        """Of one run; a loop without trips runs once."""
        counts = self.own
        for span in self.inner:
            counts = counts.plus(span.total(trips), trips.get(span, 1))
        return counts


@dataclass(frozen=True)
class Count:
    """What one work-item executes."""

    counts: Counts
    is_matched: bool
    """Whether the loops of the instructions are those of the kernel; else each counts once."""


def count(assembly: str, loops: Sequence[Loop], arithmetic: float) -> Count:
    """Count a kernel with these loops, whose work-item does so many operations on floats.

    Where several loops may have been unrolled, those were with which the instructions do nearest to
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
    """Return the tree of loops in a kernel's instructions, without those of its preamble."""
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
    """Return the ways to find `spans`, all of them, among `loops` in order: how often each runs."""
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
        # The copies of loops without loops leave nothing to match.
        yield from _matches((*(loop.inner * loop.trips), *rest), spans)
