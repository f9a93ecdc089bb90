"""HTML elements. Only `element` and `raw` turn text into HTML, so all other text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias


class Html(str):
    """Text that is already HTML."""


Content: TypeAlias = "str | int | Iterable[Content] | None"
"""The content of an element: text, which is escaped, HTML, or several of these; None is empty."""

Attribute: TypeAlias = str | int | bool | None

_EMPTY = ("circle", "input", "line")
_BLOCKS = ("dd", "details", "div", "h1", "h2", "h3", "h4", "li", "section", "table", "tr", "ul")
"""Elements that end a line, so that the source of a page is readable."""


def element(name: str, *content: Content, **attributes: Attribute) -> Html:
    """Return `<name …>content</name>`.

    An attribute that Python reserves has an underscore behind it, `class_="n"`, and underscores
    stand for hyphens, `data_n=3`. True gives an attribute no value; None and False leave it out.
    """
    start = f"<{name}{''.join(map(_attribute, attributes, attributes.values()))}"
    end = "\n" if name in _BLOCKS else ""
    return Html(f"{start}/>" if name in _EMPTY else f"{start}>{html_of(content)}</{name}>{end}")


def raw(text: str) -> Html:
    """Return text that is already HTML, such as a drawing, unescaped."""
    return Html(text)


def html_of(content: Content) -> Html:
    """Return content as HTML."""
    match content:
        case None:
            return Html()
        case Html():
            return content
        case str() | int():
            return Html(escape(str(content)))
        case _:
            return Html("".join(map(html_of, content)))


def _attribute(name: str, value: Attribute) -> str:
    name = name.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
