"""`// expected-error@+1 {{text}}` comments: the diagnostics a test file announces itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .source import Source, SourceError

_COMMENT = re.compile(
    r"expected-error(?:@(?P<where>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*?)\}\}"
)
_UNKNOWN = 0


@dataclass(frozen=True)
class Expectation:
    """One announced error: the line it must be reported on, and a part of its sentence."""

    comment_line: int
    line: int
    text: str

    def matches(self, error: SourceError) -> bool:
        """Whether `error` is the announced one."""
        return error.line == self.line and self.text in error.sentence


def expectations(source: Source) -> list[Expectation]:
    """The errors that the comments of `source` announce.

    `@+N` and `@-N` count lines from the comment, `@above` and `@below` skip no comments,
    `@unknown` is for errors that belong to no line.
    """
    found: list[Expectation] = []
    for number, text in enumerate(source.text.split("\n"), source.line_offset + 1):
        for match in _COMMENT.finditer(text):
            where: str = match["where"] or "+0"
            named = {"above": number - 1, "below": number + 1, "unknown": _UNKNOWN}
            line = named[where] if where in named else number + int(where)
            found.append(Expectation(number, line, match["text"]))
    return found


def check(source: Source, errors: list[SourceError]) -> list[str]:
    """Complaints about errors that were not announced and announcements that did not come true."""
    open_expectations = expectations(source)
    complaints: list[str] = []
    for error in errors:
        hit = next((e for e in open_expectations if e.matches(error)), None)
        if hit is None:
            complaints.append(f"{error} (this error was not announced)")
        else:
            open_expectations.remove(hit)
    complaints += [
        f'{source.name}:{e.comment_line}: expected error "{e.text}" was not produced.'
        for e in open_expectations
    ]
    return complaints
