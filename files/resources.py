"""Files of the package, read from a folder or from a zip archive."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable


def read_text(module: str, path: str) -> str:
    """Return the text of a file by its path relative to a module's folder."""
    return _beside(module, path).read_text(encoding="utf-8")


def read_sources(module: str, folder: str) -> dict[str, str]:
    """Return the C files in a folder beside a module, by their paths relative to it."""
    return dict(sorted(_sources(_beside(module, folder), "", (".c", ".h"))))


def read_tree(folder: str, *endings: str) -> dict[str, str]:
    """Return the texts below a folder of the package, sorted by their paths relative to it."""
    return dict(sorted(_sources(_ROOT.joinpath(*folder.split("/")), "", endings)))


def _beside(module: str, path: str) -> Traversable:
    return files(module.rpartition(".")[0]).joinpath(*path.split("/"))


_ROOT = files(__name__.partition(".")[0])


def _sources(
    folder: Traversable, prefix: str, endings: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        path = prefix + entry.name
        if entry.is_dir():
            yield from _sources(entry, f"{path}/", endings)
        elif path.endswith(endings):
            yield path, entry.read_text(encoding="utf-8")
