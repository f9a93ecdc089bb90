"""Each tutorial works as it stands: its files, its commands and the output that it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import pages

ROOT = Path(__file__).parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"


@pytest.mark.parametrize("name", ["a-pass", "embed-us", "an-accelerator"])
def test_a_tutorial(name: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    pages.follow(TUTORIALS / f"{name}.md", tmp_path)


def test_a_page_that_shows_another_output_fails(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo right\nwrong\n```\n")
    with pytest.raises(AssertionError, match="echo right"):
        pages.follow(page, tmp_path)
