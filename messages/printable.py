"""Names from models and files, as text that shows each of their characters.

Tensors, nodes and files may have any name in Unicode: with line breaks, NULs or marks that turn the
direction of the text, or a megabyte long. Code that puts one into a line of text (a comment of
generated code, a table, a message) calls `printable(name)`.
"""

from __future__ import annotations

import unicodedata

LONGEST = 100
"""Characters of a name that are shown, unless the caller says otherwise."""

# Right-to-left characters reorder adjacent digits on the screen.
_RIGHT_TO_LEFT = {"R", "AL", "AN"}


def printable(text: str, longest: int = LONGEST) -> str:
    """`text` in one line, with Python's escapes for characters that nobody could see.

    Shows at most `longest` characters of a text, then the number of all.
    """
    shown = visible(text[:longest])
    return shown if len(text) <= longest else f"{shown}... ({len(text):,} characters)"


def visible(text: str) -> str:
    """`text` of any length in one line, with escapes for characters that nobody could see."""
    # Most text has nothing to escape, and some of it is a whole program.
    return text if text.isascii() and text.isprintable() else "".join(map(_shown, text))


def _shown(char: str) -> str:
    if char.isprintable() and unicodedata.bidirectional(char) not in _RIGHT_TO_LEFT:
        return char
    return char.encode("unicode_escape").decode("ascii")
