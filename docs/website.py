"""The mkdocs hook that builds a site from the repository's pages, whose links work on GitHub.

README.md is the front page. A page may link to any file of the repository. The site holds those
files below `repository/`: a text as a page that shows it, and a folder as its README or a list of
its files.
"""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import relpath
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FRONT = ROOT / "README.md"
LINK = re.compile(r"(?P<before>\]\()(?!\w+:|#)(?P<path>[^)#\s]+)")
IMAGES = (".svg", ".png")


def uri(path: Path) -> str:
    """Return the path of a file or folder of the repository in the site's sources."""
    if path == FRONT:
        return "index.md"
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    place = f"repository/{path.relative_to(ROOT).as_posix()}"
    return place if path.suffix in (".md", *IMAGES) else f"{place}.md"


def target_of(link: str, page: Path) -> Path | None:
    """Return the target of a link in `page`, or None; a README stands for its folder."""
    target = (page.parent / link).resolve()
    if (target / "README.md").exists():
        return target / "README.md" if target != ROOT else FRONT
    return target if target.exists() else None


def source(path: Path) -> str:
    """Return the Markdown that shows a file or a folder."""
    if path.is_dir():
        lines = [f"- [{each.name}]({path.name}/{each.name})" for each in sorted(path.iterdir())]
        return "\n".join([f"# {path.relative_to(ROOT)}", "", *lines, ""])
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    return f"# {path.relative_to(ROOT)}\n\n````{path.suffix[1:]}\n{text}\n````\n"


def linked(path: Path) -> list[Path]:
    """Return the files and folders of the repository to which a page links."""
    if path.suffix != ".md" and not path.is_dir():
        return []
    targets = (target_of(match["path"], path) for match in LINK.finditer(source(path)))
    return [target for target in targets if target]


def with_links(text: str, path: Path) -> str:
    """Return the text of a page whose links lead from source to source of the site."""
    folder = uri(path).rpartition("/")[0] or "."

    def link(match: re.Match[str]) -> str:
        target = target_of(match["path"], path)
        return match["before"] + (relpath(uri(target), folder) if target else match["path"])

    return LINK.sub(link, text)


def shown_files(pages: list[Path]) -> list[Path]:
    """Return the files outside docs/ on the site, which are those that pages link to."""
    waiting, seen = list(pages), set(pages)
    while waiting:
        for target in linked(waiting.pop()):
            if target not in seen and not target.is_relative_to(DOCS):
                seen.add(target)
                waiting.append(target)
    return sorted(path for path in seen if not path.is_relative_to(DOCS))


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add the front page, and everything outside docs/ that pages link to."""
    for path in shown_files(
        [FRONT, *(DOCS / file.src_uri for file in files.documentation_pages())]
    ):
        if path.suffix in IMAGES:
            file = File.generated(config, uri(path), abs_src_path=str(path))
        else:
            text = source(path)
            markdown = path.is_dir() or path.suffix == ".md"
            content = with_links(text, path) if markdown else text
            file = File.generated(config, uri(path), content=content)
        if path != FRONT:
            file.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(file)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn a page's links to files of the repository into links within the site."""
    if page.file.generated_by:
        return markdown
    return with_links(markdown, DOCS / page.file.src_uri)
