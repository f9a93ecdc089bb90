"""Tables on a terminal of any width, or as plain text if the output is not a terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from functools import partial
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..messages.printable import printable

_PIPED_WIDTH = 200
"""Width of an output that is not a terminal, unless COLUMNS is set: wide enough for all tables."""

_TRAILING_SPACES = re.compile(r" +$", re.MULTILINE)


class _TableConsole(Console):
    """Prints an empty line between two tables, and no spaces at the ends of lines in a pipe."""

    _has_table = False

    def print(self, *objects: Any, **options: Any) -> None:
        is_table = any(isinstance(each, Table) for each in objects)
        objects = ("", *objects) if is_table and self._has_table else objects
        self._has_table = self._has_table or is_table
        options.setdefault("sep", "\n")
        if self.is_terminal:
            return super().print(*objects, **options)
        with self.capture() as captured:
            # Sentences stay on one line in a pipe; COLUMNS applies only to tables.
            options.setdefault("soft_wrap", not is_table)
            super().print(*objects, **options)
        self.file.write(_TRAILING_SPACES.sub("", captured.get()))


def terminal(stderr: bool = False) -> Console:
    """Return a console for tables, wide enough for all columns if the output is not a terminal."""
    # Names of tensors and files may look like markup.
    plain = partial(_TableConsole, stderr=stderr, markup=False, emoji=False)
    console = plain()
    is_given = os.environ.get("COLUMNS", "").isdecimal()
    return console if console.is_terminal or is_given else plain(width=_PIPED_WIDTH)


def table(*columns: str, title: str | None = None, cut: Collection[str] = ()) -> Table:
    """Return an empty table in the style of all tools.

    With `cut`, each row has one line, and the texts of those columns (`cut_text`) are shortened if
    the terminal is too narrow.
    """
    rows = Table(*columns, title=title, title_justify="left", box=box.SIMPLE, show_edge=False)
    for column in rows.columns if cut else ():
        column.no_wrap = column.header not in cut
    return rows


def cut_text(text: str) -> Text:
    """Return a cell of one line, cut with an ellipsis if the terminal is too narrow."""
    return Text(printable(text), no_wrap=True, overflow="ellipsis")
