"""Inputs of the compiler's output other than the model: clopt itself and other packages."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint, version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ...plugins import installed
from ...version import IMPORTED_NS, VERSION

_ROOT = Path(__file__).parents[2]
_OURS = "clopt"
_PACKAGES = ("xdsl", "onnx", "numpy", "ml_dtypes")
_GROUPS = ("clopt.", "xdsl.")

# Folders of a checkout whose files do not affect compiled models.
_SKIPPED = {"tests", "lit_tests", "benchmarks", "docs", "examples", "__pycache__"}


class Tree(NamedTuple):
    """The state of a folder's files."""

    digest: str
    newest: int
    """The time of the last change, in nanoseconds."""


@cache
def revision() -> tuple[str, ...]:
    """Return the versions of clopt, of the packages that it computes with, and of its plugins."""
    versions = (f"{name} {version(name)}" for name in _PACKAGES)
    return (VERSION, sys.version, platform.machine(), tree_of(_ROOT).digest, *versions, *_plugins())


def is_revision_settled() -> bool:
    """Return whether clopt's files are still those that this process has imported."""
    tree = tree_of(_ROOT)
    return tree.digest in revision() and tree.newest < IMPORTED_NS


def tree_of(folder: Path) -> Tree:
    """Return the state of the files below `folder`, without reading them.

    The digest includes ctime as well as mtime, because an installer may set mtime.
    """
    digest, newest = hashlib.sha256(), 0
    for line, changed in sorted(_files(str(folder))):
        digest.update(line.encode("utf-8", "surrogateescape"))
        newest = max(newest, changed)
    return Tree(digest.hexdigest(), newest)


def _files(folder: str) -> Iterator[tuple[str, int]]:
    """Yield a line for each file below `folder`, and the time of its last change."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _SKIPPED:
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
            else:
                status = entry.stat()
                times = status.st_mtime_ns, status.st_ctime_ns
                yield f"{entry.path}\0{status.st_size}\0{times}\n", max(times)


def _plugins() -> Iterator[str]:
    """Yield the entry points of other packages that clopt or xDSL loads, with their files."""
    for group in sorted(group for group in installed() if group.startswith(_GROUPS)):
        for point in sorted(installed()[group], key=lambda p: (p.name, p.value)):
            dist = point.dist
            if dist is None or dist.name != _OURS:
                package = "" if dist is None else f"{dist.name} {dist.version}"
                yield "\0".join((group, point.name, point.value, package, *_sources(point)))


def _sources(point: EntryPoint) -> Iterator[str]:
    """Yield the states of the files of the package that contains `point`."""
    spec = find_spec(point.module.partition(".")[0])
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        yield tree_of(Path(folder)).digest
    if spec.origin and os.path.isfile(spec.origin):
        status = os.stat(spec.origin)
        yield f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
