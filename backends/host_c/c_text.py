"""Helpers for printing C text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap

from ...messages.printable import printable

INDENT = "    "

_ESCAPES = {
    "\\": "\\\\",
    '"': '\\"',
    "'": "\\'",
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "?": "\\?",  # prevents trigraphs
}
_LONGEST_STRING = 4095
"""Bytes of the longest literal that every C99 compiler must support."""


def string(text: str) -> str:
    r"""Return an initialiser for a string: a literal, or an array of characters if it is too long.

    Non-ASCII characters become octal escapes of their UTF-8 bytes. C strings end at a NUL, so a NUL
    in `text` becomes the four characters `\x00`.
    """
    data = text.replace("\0", "\\x00").encode(errors="backslashreplace")
    if len(data) <= _LONGEST_STRING:
        return '"' + "".join(_char(byte, "'") for byte in data) + '"'
    chars = filled(("'" + _char(byte, '"') + "'" for byte in data), INDENT, 90)
    return f"(const char[]){{\n{INDENT}{chars}, 0}}"


def _char(byte: int, plain: str) -> str:
    """Return a byte in a literal; the quotation mark `plain` needs no escape there."""
    char = chr(byte)
    if char != plain and char in _ESCAPES:
        return _ESCAPES[char]
    return char if 32 <= byte < 127 else f"\\{byte:03o}"


def comment_text(text: str) -> str:
    """Return `text` for use in a comment: one line that cannot end the comment."""
    flat = printable(re.sub(r"\s*\n\s*", " ", text))
    return flat.replace("??", "? ?").replace("*/", "* /").replace("/*", "/ *")


def comment(text: str) -> str:
    """Return a comment of one line."""
    return f"/* {comment_text(text)} */"


def braces(items: Iterable[str]) -> str:
    """Return an initialiser on one line."""
    return "{" + ", ".join(items) + "}"


def initialiser(*lines: Mapping[str, str]) -> str:
    """Return a designated initialiser of several lines, without fields whose value is empty."""
    texts = [
        ", ".join(f".{name} = {value}" for name, value in line.items() if value) for line in lines
    ]
    return "{" + ",\n ".join(text for text in texts if text) + "}"


def array(declaration: str, rows: Sequence[str]) -> str:
    """Return a table with one row per line, or an empty text if there are no rows."""
    if not rows:
        return ""
    lines = "\n".join(INDENT + row.replace("\n", f"\n{INDENT}") for row in rows)
    return f"{declaration}[] = {{\n{lines}\n}};\n"


def reference(name: str, rows: Sequence[object]) -> str:
    """Return the name of a table that `array` printed, or NULL if it has no rows."""
    return name if rows else "NULL"


def filled(items: Iterable[str], indent: str, width: int) -> str:
    """Return comma-separated items, wrapped at `width`, with further lines indented."""
    text = ", ".join(item.replace(" ", "\0") for item in items)  # never break inside an item
    lines = wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return f"\n{indent}".join(lines).replace("\0", " ")
