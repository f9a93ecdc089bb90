"""Pieces of C text."""

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
    "?": "\\?",  # no trigraph
}
_LONGEST_STRING = 4095
"""Bytes of the longest literal that every compiler of C99 takes."""


def string(text: str) -> str:
    """A string as an initialiser: a literal, or an array of characters where one is too long.

    Whatever is not ASCII becomes octal escapes of its UTF-8. C's strings end at a NUL, so one in
    `text` becomes the four characters `\\x00`.
    """
    data = text.replace("\0", "\\x00").encode(errors="backslashreplace")
    if len(data) <= _LONGEST_STRING:
        return '"' + "".join(_char(byte, "'") for byte in data) + '"'
    chars = filled(("'" + _char(byte, '"') + "'" for byte in data), INDENT, 90)
    return f"(const char[]){{\n{INDENT}{chars}, 0}}"


def _char(byte: int, plain: str) -> str:
    """A byte in a literal; the quotation mark `plain` needs no escape there."""
    char = chr(byte)
    if char != plain and char in _ESCAPES:
        return _ESCAPES[char]
    return char if 32 <= byte < 127 else f"\\{byte:03o}"


def comment_text(text: str) -> str:
    """`text` inside of a comment: in one line, and it does not end the comment early."""
    flat = printable(re.sub(r"\s*\n\s*", " ", text))
    return flat.replace("??", "? ?").replace("*/", "* /").replace("/*", "/ *")


def comment(text: str) -> str:
    """A comment of one line."""
    return f"/* {comment_text(text)} */"


def braces(items: Iterable[str]) -> str:
    """An initialiser on one line."""
    return "{" + ", ".join(items) + "}"


def initialiser(*lines: Mapping[str, str]) -> str:
    """A designated initialiser of some lines; fields whose value is empty are left out."""
    texts = [
        ", ".join(f".{name} = {value}" for name, value in line.items() if value) for line in lines
    ]
    return "{" + ",\n ".join(text for text in texts if text) + "}"


def array(declaration: str, rows: Sequence[str]) -> str:
    """A table with a row a line, each with its comma; nothing where there are no rows."""
    if not rows:
        return ""
    lines = "\n".join(INDENT + row.replace("\n", f"\n{INDENT}") for row in rows)
    return f"{declaration}[] = {{\n{lines}\n}};\n"


def reference(name: str, rows: Sequence[object]) -> str:
    """The name of a table that `array` wrote, or NULL where there is none."""
    return name if rows else "NULL"


def filled(items: Iterable[str], indent: str, width: int) -> str:
    """Items with commas between them, as many to a line as fit, further lines indented."""
    text = ", ".join(item.replace(" ", "\0") for item in items)  # an item is on one line
    lines = wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return f"\n{indent}".join(lines).replace("\0", " ")
