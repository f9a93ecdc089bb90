"""docs/report.md: its commands write the pages that it describes and photographs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pictures import screenshots
from pictures.browser import find_browser
from PIL import Image

from support import pages
from support.reported_models import Page

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "report.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the page was followed."""
    path = tmp_path_factory.mktemp("followed")
    (path / "examples").symlink_to(ROOT / "examples")
    pages.follow(PAGE, path)
    return path


def test_the_page_has_the_sections_of_a_report(folder: Path) -> None:
    shown = Page((folder / "report.html").read_text(encoding="utf-8")).all("h2")
    described = re.findall(r"^## (\w+)$", PAGE.read_text(encoding="utf-8"), re.M)
    assert described == shown
    without_profile = Page((folder / "adreno.html").read_text(encoding="utf-8")).all("h2")
    assert without_profile == [title for title in shown if title != "Time"]


def test_the_pictures_are_those_of_the_command() -> None:
    shown = re.findall(r"!\[.+?\]\(pictures/(.+?)\.png\)", PAGE.read_text(encoding="utf-8"))
    assert shown == list(screenshots.VIEWS)
    for name in shown:
        with Image.open(screenshots.FOLDER / f"{name}.png") as picture:
            assert picture.size == (screenshots.WIDTH, screenshots.HEIGHT)


@pytest.mark.by_default(cases=0)  # a start of the browser takes seconds
@pytest.mark.skipif(not find_browser(), reason="no Chromium; run.sh --thorough installs it")
def test_each_view_shows_another_part(folder: Path, tmp_path: Path) -> None:
    pictures = [
        Image.open(path) for path in screenshots.photograph(folder / "report.html", tmp_path)
    ]
    assert {picture.size for picture in pictures} == {(screenshots.WIDTH, screenshots.HEIGHT)}
    contents = {picture.tobytes() for picture in pictures}
    assert len(contents) == len(screenshots.VIEWS)
    assert all(len(picture.getcolors(256) or []) > 8 for picture in pictures), "blank"
