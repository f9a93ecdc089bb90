"""The frame of every page: its style, its script, and its content security policy."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from string import Template

from ...files.resources import read_text
from .elements import Content, html_of


def document(
    title: str, *body: Content, styles: Sequence[str] = (), scripts: Sequence[str] = ()
) -> str:
    """Return a page; `styles` and `scripts` are texts of its own beside those of all pages.

    The browser loads nothing, and runs exactly this script: the page has its digest. A name of the
    model that came through as HTML would run nothing.
    """
    style = "".join([read_text(__name__, "page.css"), *styles])
    script = "\n" + "".join([read_text(__name__, "page.js"), *scripts])
    return Template(read_text(__name__, "page.html")).substitute(
        title=html_of(title),
        digest=b64encode(sha256(script.encode()).digest()).decode(),
        style=style,
        body=html_of(body),
        script=script,
    )
