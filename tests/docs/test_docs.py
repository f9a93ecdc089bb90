"""Nothing generated in docs/ is out of date, and no link leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from generate import pages

from clopt.frontends.onnx.operators import tables
from clopt.targets import fact_types

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
ENTRY = re.compile(r"^- \*\*(.+?)(?=^[-#]|\Z)", re.M | re.S)
PLACE = re.compile(r"`(\w+)`(?:\s+and\s+`(\w+)`)?\s+in\s+`([\w/]+\.py)`")


@pytest.mark.by_default(cases=1)
def test_generated_parts_are_up_to_date():
    stale = [p.name for p, text in pages().items() if p.read_text(encoding="utf-8") != text]
    assert not stale, f"run python docs/generate.py: {stale}"


def test_every_fact_of_a_target_is_explained():
    page = (ROOT / "docs" / "targets.md").read_text(encoding="utf-8")
    assert [name for name in fact_types() if f"\n| `{name}` |" not in page] == []


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))])
def test_links_lead_somewhere(page: Path):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_page_has_its_place_in_the_site():
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in ROOT.glob("docs/**/*.md")}
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == sorted(pages | {"index.md"})


def test_operators_that_are_listed_as_missing_are():
    page = (ROOT / "docs" / "not-supported.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"Of the domain `ai.onnx`: (.*?)\.\n\n", page, re.S)
    missing = {name.strip() for name in listed.split(",")}
    assert len(missing) > 5
    assert not missing & set(tables()[""])


def test_each_word_of_the_glossary_is_where_the_page_says():
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    entries = ENTRY.findall(page)
    assert len(entries) == page.count("\n- **") > 40
    for entry in entries:
        places = PLACE.findall(entry)
        assert places, f"no file: {entry}"
        for *names, path in places:
            text = (ROOT / path).read_text(encoding="utf-8")
            for name in filter(None, names):
                defined = rf"^\s*(?:class|def) {name}\b|^{name}\b[^\n]* = "
                assert re.search(defined, text, re.M), f"{path} does not define {name}"
