"""`mkdocs build --strict` makes a site of docs/ in which each link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_site_is_built_strictly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mkdocs.commands.build import build  # of the extra `site`: thorough tests alone have it
    from mkdocs.config import load_config

    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    build(load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(tmp_path)))
    (title,) = re.findall(r"\A# (.*)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert f'<h1 id="{title}">{title}<' in (tmp_path / "index.html").read_text(encoding="utf-8")
    embedding = (tmp_path / "embedding" / "index.html").read_text(encoding="utf-8")
    (folder,) = set(re.findall(r'href="\.\./(repository/[^"]*/lens/)"', embedding))
    assert "find_digit.mlir" in (tmp_path / folder / "index.html").read_text(encoding="utf-8")
