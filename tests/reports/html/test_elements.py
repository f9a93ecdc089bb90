"""Pages of HTML: everything is escaped, and the browser may run one script alone."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

from clopt.reports.html import Column, NumberCell, document, element, raw, search_box, table
from support.reported_models import Page

EVIL = '"><script>alert(1)</script>&'


def test_text_and_attributes_are_escaped_and_html_is_not_escaped_twice() -> None:
    inner = element("b", EVIL, title=EVIL, data_x=3, hidden=True, id=None, class_="n")
    outer = element("p", "a < b ", inner, None, [raw("<i>c</i>"), 7])
    page = Page(outer)
    assert [tag for tag, _ in page.elements] == ["p", "b", "i"]
    assert page.elements[1][1] == {"title": EVIL, "data-x": "3", "hidden": None, "class": "n"}
    assert page.all("p") == [f"a < b {EVIL}c7"]


def test_cells_of_numbers_sort_by_their_value() -> None:
    columns = (Column("name", kind="name"), Column("bytes", is_number=True))
    rows = [[EVIL, NumberCell.of(1234)], ["none", NumberCell.of(None)]]
    page = Page(table(columns, rows, "sizes", [{"data_for": "k0"}]))
    assert page.table("sizes") == [["name", "bytes"], [EVIL, "1,234"], ["none", ""]]
    assert page.values("data-n") == ["1234", "-1"]
    assert page.values("data-for") == ["k0"]
    assert Page(search_box("sizes", "part")).values("data-filter") == ["sizes"]


def test_the_policy_names_the_digest_of_the_script() -> None:
    text = document(EVIL, element("p", EVIL), styles=["p { color: red }"], scripts=["let x = 1;"])
    scripts = re.findall("<script>(.*?)</script>", text, re.S)
    assert len(scripts) == 1
    assert scripts[0].endswith("let x = 1;")
    digest = b64encode(sha256(scripts[0].encode()).digest()).decode()
    (policy,) = (value for value in Page(text).values("content") if "default-src" in value)
    assert policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )
    assert Page(text).all("title") == Page(text).all("p") == [EVIL]
