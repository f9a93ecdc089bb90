"""`// expected-error @+1 {{text}}` comments: the diagnostics that a test file expects.

Their syntax and meaning are the same as for MLIR's `-verify-diagnostics`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..messages.source import Source

_COMMENT = re.compile(
    r"expected-(?P<kind>error|warning|remark|note)(?P<regex>-re)? *"
    r"(?:@(?P<where>[+-]\d+|above|below|unknown))? *\{\{(?P<text>.*)\}\}\s*$"
)
_ATTEMPT = re.compile(r"expected-(?:error|warning|remark|note)(?:-re)?\s*[@{]")
_PATTERN = re.compile(r"\{\{(.*?)\}\}")


class Diagnostic(NamedTuple):
    """An error or a remark of the compiler, at a line of the input if known."""

    kind: str
    line: int | None
    sentence: str
    shown: str
    """The whole text, with its place."""


@dataclass(frozen=True)
class Expectation:
    """An expected diagnostic: its line and a part of its text."""

    kind: str
    comment_line: int
    line: int | None
    text: str
    pattern: re.Pattern[str]

    def matches(self, diagnostic: Diagnostic) -> bool:
        """Return whether `diagnostic` is the expected one."""
        same_place = (self.kind, self.line) == (diagnostic.kind, diagnostic.line)
        return same_place and self.pattern.search(diagnostic.sentence) is not None


def expectations(source: Source) -> Iterator[Expectation | str]:
    """Yield the diagnostics that comments of `source` expect, and complaints about bad comments.

    `@+N` and `@-N` count lines from the comment. `@above` and `@below` are the nearest lines
    without such a comment. `@unknown` matches diagnostics without a line. With `-re`, `{{...}}`
    within the text are regular expressions.
    """
    lines = source.text.split("\n")
    matches = ((number, _COMMENT.search(text)) for number, text in enumerate(lines))
    comments = {number: match for number, match in matches if match}
    first = source.line_offset + 1
    for number, text in enumerate(lines):
        if number not in comments:
            if _ATTEMPT.search(text):
                yield (
                    f"{source.name}:{number + first}: this expectation cannot be read; write for "
                    "example expected-error @+1 {{text}} at the end of a line."
                )
            continue
        match = comments[number]
        line = _line(match["where"] or "+0", number, comments)
        where = None if line is None else line + first
        try:
            pattern = _pattern(match["text"], bool(match["regex"]))
        except re.error as error:
            place, text = f"{source.name}:{number + first}", match["text"]
            yield f"{place}: {text} is no regular expression: {error}."
            continue
        yield Expectation(match["kind"], number + first, where, match["text"], pattern)


def _line(where: str, number: int, comments: dict[int, re.Match[str]]) -> int | None:
    """Return the line that a comment on line `number` means; both count from 0."""
    if where == "unknown":
        return None
    if where not in ("above", "below"):
        return number + int(where)
    step = -1 if where == "above" else 1
    number += step
    while number in comments:
        number += step
    return number


def _pattern(text: str, has_patterns: bool) -> re.Pattern[str]:
    if not has_patterns:
        return re.compile(re.escape(text))
    # `split` with a group alternates between the text outside of the group and the text in it.
    pieces = enumerate(_PATTERN.split(text))
    return re.compile("".join(f"(?:{p})" if i % 2 else re.escape(p) for i, p in pieces))


def check(source: Source, diagnostics: Sequence[Diagnostic]) -> list[str]:
    """Return complaints about unexpected diagnostics and about expected ones that are missing."""
    found = list(expectations(source))
    complaints = [item for item in found if isinstance(item, str)]
    pending = [item for item in found if isinstance(item, Expectation)]
    for diagnostic in diagnostics:
        hit = next((e for e in pending if e.matches(diagnostic)), None)
        if hit is None:
            complaints.append(f"unexpected {diagnostic.kind}: {diagnostic.shown}")
        else:
            pending.remove(hit)
    complaints += [
        f'{source.name}:{e.comment_line}: expected {e.kind} "{e.text}" was not produced.'
        for e in pending
    ]
    return complaints
