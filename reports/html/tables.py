"""Tables that the page's script sorts and searches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .elements import Content, Html, element, html_of


@dataclass(frozen=True)
class Column:
    """A column; numbers are right-aligned and sort by value."""

    title: str
    is_number: bool = False
    kind: str = ""
    """A class of CSS for its cells."""


@dataclass(frozen=True)
class NumberCell:
    """A cell that sorts by `value`; an empty one sorts first."""

    value: float | None
    text: Content

    @classmethod
    def of(cls, value: int | None) -> NumberCell:
        """Return a whole number with separators, or an empty cell."""
        return cls(value, "" if value is None else f"{value:,}")


def table(
    columns: Sequence[Column],
    rows: Iterable[Sequence[Content | NumberCell]],
    key: str = "",
    row_attributes: Sequence[dict[str, str]] = (),
) -> Html:
    """Return a table; `key` is its id, and `row_attributes` has the attributes of each row."""
    head = element("tr", [element("th", c.title, class_=_class(c)) for c in columns])
    body = [_row(columns, row, row_attributes[i : i + 1]) for i, row in enumerate(rows)]
    inner = (element("thead", head), "\n", element("tbody", "\n", body))
    return element(
        "div", element("table", *inner, id=key or None, class_="sortable"), class_="wide"
    )


def search_box(key: str, placeholder: str) -> Html:
    """Return a field that hides the rows of the table `key` that do not contain its text."""
    found = element("input", type="search", data_filter=key, placeholder=placeholder)
    labelled = element("label", element("span", placeholder, class_="hidden"), found)
    return element("p", labelled, " ", element("output", class_="quiet"), class_="search")


def _row(
    columns: Sequence[Column],
    row: Sequence[Content | NumberCell],
    attributes: Sequence[dict[str, str]],
) -> Html:
    cells = [_cell(column, value) for column, value in zip(columns, row, strict=True)]
    given = attributes[0] if attributes else {}
    return html_of([element("tr", cells, **given), "\n"])


def _cell(column: Column, value: Content | NumberCell) -> Html:
    if not isinstance(value, NumberCell):
        return element("td", value, class_=_class(column))
    order = -1 if value.value is None else f"{value.value:g}"
    return element("td", value.text, class_=_class(column), data_n=order)


def _class(column: Column) -> str | None:
    return " ".join(filter(None, ["n" if column.is_number else "", column.kind])) or None
