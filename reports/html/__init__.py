"""HTML pages in one style, each a self-contained file."""

from __future__ import annotations

from .document import document
from .elements import Content, Html, element, raw
from .tables import Column, NumberCell, search_box, table

__all__ = [
    "Column",
    "Content",
    "Html",
    "NumberCell",
    "document",
    "element",
    "raw",
    "search_box",
    "table",
]
