"""Pieces of C text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap

INDENT = "    "

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "?": "\\?"}


def string(text: str) -> str:
    """A string literal; whatever is not ASCII becomes octal escapes of its UTF-8."""

    def escaped(byte: int) -> str:
        char = chr(byte)
        return _ESCAPES.get(char) or (char if 32 <= byte < 127 else f"\\{byte:03o}")

    return '"' + "".join(map(escaped, text.encode())) + '"'


def comment(text: str) -> str:
    """A comment of one line; a text that would end it early does not."""
    flat = re.sub(r"\s+", " ", text).replace("*/", "* /").replace("/*", "/ *")
    return f"/* {flat} */"


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
