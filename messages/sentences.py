"""Parts of sentences that many messages share."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str], otherwise: str, most: int = 1) -> str:
    """Return a question that names the closest of the `known` words, or `otherwise`."""
    close = get_close_matches(word, [*known], n=most)
    return f"did you mean {' or '.join(close)}?" if close else otherwise


def as_sentence(text: str) -> str:
    """Return `text` with a full stop, unless it ends like a sentence already."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def reason_of(error: Exception) -> str:
    """Return the reason for a failure to read or write, without the error's number and path."""
    return (isinstance(error, OSError) and error.strerror) or str(error)
