"""The report in a browser without a network: its script runs, and no other one."""

from __future__ import annotations

from collections.abc import Generator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from pictures.browser import Tab, find_browser, opened
from PIL import Image

import clopt
from support.reported_models import NAMES, residual

BROWSER = find_browser()
pytestmark = [
    pytest.mark.by_default(cases=0),  # a start of the browser takes seconds
    pytest.mark.skipif(BROWSER is None, reason="no Chromium; run.sh --thorough installs it"),
]
VISIBLE = "[...document.querySelectorAll({!r})].filter(e => e.checkVisibility()).length"


@pytest.fixture(scope="module")
def model() -> clopt.CompiledModel:
    names = tuple(f"<img src=x onerror=alert(1)> {name}" for name in NAMES)
    return clopt.compile(residual(names), "adreno-740 texture=prefer", explain="report")


@pytest.fixture(scope="module")
def page(model: clopt.CompiledModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    model.report(path)
    return path


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Generator[Tab]:
    assert BROWSER is not None
    with opened(BROWSER, tmp_path_factory.mktemp("profile")) as found:
        yield found


def search(tab: Tab, table: str, text: str) -> str:
    """Type into the field of a table; return how many rows it says are left."""
    field = f"document.querySelector('[data-filter={table}]')"
    tab.evaluate(f"{field}.value = {text!r}, {field}.dispatchEvent(new Event('input'))")
    return tab.evaluate(f"{field}.closest('.search').querySelector('output').textContent")


def test_the_page_asks_for_nothing_and_complains_of_nothing(tab: Tab, page: Path) -> None:
    tab.open(page)
    assert tab.requests() == [page.as_uri()]
    assert tab.errors() == []
    assert tab.evaluate("document.querySelectorAll('img').length") == 0


def test_a_search_hides_rows_with_their_sources(
    tab: Tab, page: Path, model: clopt.CompiledModel
) -> None:
    kernels = model.describe().kernels
    tab.open(page)
    assert tab.evaluate(VISIBLE.format("details.card")) == len(kernels)
    assert search(tab, "kernel-rows", "RELAYOUT") == f"1 of {len(kernels)}"
    assert tab.evaluate(VISIBLE.format("details.card")) == 1
    # A word of the source of one kernel alone.
    assert search(tab, "kernel-rows", "sampler_t") == f"2 of {len(kernels)}"
    assert search(tab, "kernel-rows", "no such word") == f"0 of {len(kernels)}"
    assert search(tab, "steps", "relu1") == "1 of 5"
    assert tab.evaluate(VISIBLE.format("li.step")) == 1
    assert tab.errors() == []


def test_a_click_opens_the_source_in_colours(
    tab: Tab, page: Path, model: clopt.CompiledModel
) -> None:
    description = model.describe()
    tab.open(page)
    assert tab.evaluate(VISIBLE.format("details.card pre")) == 0
    tab.evaluate("document.querySelector('a[href=\"#k1\"]').click()")
    assert tab.evaluate("location.hash") == "#k1"
    assert tab.evaluate(VISIBLE.format("details.card pre")) == 1
    source = tab.evaluate("document.querySelector('#k1 code.opencl').textContent")
    assert source.strip() == description.kernel_source(description.kernels[1]).strip()
    assert tab.evaluate("document.querySelector('#k1 .k').textContent") == "__kernel"
    assert tab.errors() == []


def test_a_click_on_a_heading_sorts(tab: Tab, page: Path, model: clopt.CompiledModel) -> None:
    tab.open(page)
    column = "[...document.querySelectorAll('#kernel-rows td:nth-child(9)')].map(e => +e.innerText)"
    lines: list[int] = tab.evaluate(column)
    heading = "document.querySelector('#kernel-rows th:nth-child(9)').click()"
    tab.evaluate(heading)
    assert tab.evaluate(column) == sorted(lines, reverse=True)
    tab.evaluate(heading)
    assert tab.evaluate(column) == sorted(lines)


@pytest.mark.parametrize("width", [1280, 390])
def test_it_fits_screens_in_light_and_dark(tab: Tab, page: Path, width: int) -> None:
    papers: list[float] = []
    for dark in (False, True):
        tab.open(page, width, 900, dark)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        with Image.open(BytesIO(tab.screenshot())) as image:
            assert image.size == (width, 900)
            grey = np.asarray(image.convert("L"))
        papers.append(float(np.median(grey)))
        assert grey.std() > 5  # something is drawn on it
    assert papers[0] > 240
    assert papers[1] < 40


def test_a_script_that_came_through_as_html_does_not_run(
    tab: Tab, page: Path, tmp_path: Path
) -> None:
    evil = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
    text = page.read_text(encoding="utf-8").replace("<header>", f"<header>{evil}", 1)
    (tmp_path / "evil.html").write_text(text, encoding="utf-8")
    tab.open(tmp_path / "evil.html")
    assert tab.evaluate("window.hacked ?? 'safe'") == "safe"
    assert any("Content Security Policy" in error for error in tab.errors())
    assert search(tab, "steps", "relu1") == "1 of 5"
