"""Names from models and files, as printable text.

Tensors, nodes and files may have any Unicode name: with line breaks, NULs or marks that change the
direction of text, or a megabyte long. Code that puts a name into a line of text (a comment of
generated code, a table, a message) calls `printable(name)`.
"""

from __future__ import annotations

import unicodedata

LONGEST = 100
"""Characters of a name that are shown by default."""

# Right-to-left characters reorder adjacent digits on the screen.
_RIGHT_TO_LEFT = {"R", "AL", "AN"}


def printable(text: str, longest: int = LONGEST) -> str:
    """Return `text` in one line, with Python's escapes for invisible characters.

    Shows at most `longest` characters, followed by the total number if there are more.
    """
    shown = visible(text[:longest])
    return shown if len(text) <= longest else f"{shown}... ({len(text):,} characters)"


def visible(text: str) -> str:
    """Return `text` of any length in one line, with escapes for invisible characters."""
    # Most text has nothing to escape, and some of it is a whole program.
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char.isprintable() and unicodedata.bidirectional(char) not in _RIGHT_TO_LEFT:
        return char
    return char.encode("unicode_escape").decode("ascii")
