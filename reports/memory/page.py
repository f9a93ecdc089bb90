"""The memory plan of a model as HTML: a separate page, or a section of another page."""

from __future__ import annotations

from ..drawing import to_svg
from ..html import Column, Html, NumberCell, document, element, raw, search_box, table
from .picture import picture
from .summary import SummaryLine, size_text, summary
from .values import MemoryReport, MemoryRow

_COLUMNS = (
    *(Column("node", kind="name"), Column("value"), Column("kind", kind="fixed")),
    *(Column(name, is_number=True) for name in ("bytes", "arena", "offset", "pitch")),
    *(Column(name, is_number=True) for name in ("first", "last")),
    *(Column("type"), Column("kernels")),
)


def page(report: MemoryReport, title: str) -> str:
    """Return the page: summary, picture and a table of all intermediates to sort and to search."""
    heading = element("h1", f"{title}: memory on the device")
    return document(f"{title}: memory", heading, memory_section(report, title, is_folded=False))


def memory_section(report: MemoryReport, title: str, is_folded: bool = True) -> Html:
    """Return the content of the page without its heading; the table may be folded."""
    rows = element("table", map(_line, summary(report)), class_="figures")
    marks = [
        {"data_box": f"t{i}"} if row.arena is not None else {} for i, row in enumerate(report.rows)
    ]
    return element(
        "div",
        rows,
        element("h3", "Where and when"),
        element("div", _drawn(report, title), class_="wide"),
        element(
            "details",
            element("summary", element("h3", f"{len(report.rows)} intermediates")),
            search_box("tensors", "part of a node, kernel, type or kind"),
            table(_COLUMNS, map(_row, report.rows), "tensors", marks),
            open=not is_folded,
        ),
        class_="memory",
    )


def _drawn(report: MemoryReport, title: str) -> Html:
    """Return the picture, whose colours are for white paper."""
    return raw(to_svg(picture(report, title)).replace("<svg ", '<svg class="light" ', 1))


def _line(line: SummaryLine) -> Html:
    return element(
        "tr",
        element("td", line.what, class_="part" if line.level else None),
        element("td", size_text(line.bytes), class_="n"),
        element("td", f"{line.bytes:,} bytes", class_="n quiet"),
        element("td", line.comment, class_="quiet"),
    )


def _row(row: MemoryRow) -> list[str | NumberCell]:
    return [
        row.node,
        f"%{row.name}",
        row.kind,
        *map(NumberCell.of, (row.bytes, row.arena, row.offset, row.pitch, row.first, row.last)),
        row.type,
        ", ".join(row.kernels),
    ]
