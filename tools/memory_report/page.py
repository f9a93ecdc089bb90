"""The page of a memory report: one self-contained HTML file."""

from __future__ import annotations

from html import escape
from string import Template

from ...files.resources import read_text
from ...reports.memory import MemoryReport, Row
from ..drawing import to_svg
from .picture import picture
from .summary import Line, size_text, summary

_COLUMNS = {
    "node": "",
    "value": "",
    "kind": "",
    "bytes": "n",
    "arena": "n",
    "offset": "n",
    "pitch": "n",
    "first": "n",
    "last": "n",
    "type": "",
    "kernels": "",
}
"""The columns of the table and their classes: `n` for numbers."""


def page(report: MemoryReport, title: str) -> str:
    """Return the page: summary, picture and a table of all intermediates to sort and to search."""
    template = Template(read_text(__name__, "page.html"))
    return template.substitute(
        title=escape(title),
        summary="\n".join(map(_line, summary(report))),
        picture=to_svg(picture(report, title)),
        columns="".join(_cell("th", text, kind) for text, kind in _COLUMNS.items()),
        rows="\n".join(_row(i, row) for i, row in enumerate(report.rows)),
    )


def _line(line: Line) -> str:
    cells = [
        _cell("td", line.what, "part" if line.level else ""),
        _cell("td", size_text(line.bytes), "n"),
        _cell("td", f"{line.bytes:,} bytes", "n quiet"),
        _cell("td", line.comment, "quiet"),
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _row(index: int, row: Row) -> str:
    values: dict[str, str | int | None] = {
        "node": row.node,
        "value": f"%{row.name}",
        "kind": row.kind,
        "bytes": row.bytes,
        "arena": row.arena,
        "offset": row.offset,
        "pitch": row.pitch,
        "first": row.first,
        "last": row.last,
        "type": row.type,
        "kernels": ", ".join(row.kernels),
    }
    cells = "".join(_cell("td", values[name], kind) for name, kind in _COLUMNS.items())
    return f'<tr data-box="t{index}">{cells}</tr>'


def _cell(tag: str, value: str | int | None, kind: str = "") -> str:
    """Return a cell; a number is also its sort key, and an empty cell sorts first."""
    attributes = f' class="{kind}"' if kind else ""
    if kind == "n" and tag == "td" and not isinstance(value, str):
        attributes += f' data-n="{-1 if value is None else value}"'
    text = "" if value is None else f"{value:,}" if isinstance(value, int) else escape(value)
    return f"<{tag}{attributes}>{text}</{tag}>"
