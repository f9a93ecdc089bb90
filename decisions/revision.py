"""The compiler revision that a measured time belongs to."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from ..files.resources import read_tree

_FOLDERS = ("passes/tir", "dialects/tir", "backends/opencl_c")
"""The code that turns a plan into kernel source."""


@cache
def compiler_revision() -> str:
    """Return a digest of the code that turns a plan into kernel source.

    It is the same on every machine, and takes a few milliseconds.
    """
    digest = sha256()
    for folder in _FOLDERS:
        for path, text in read_tree(folder, ".py").items():
            digest.update(f"{folder}/{path}\0{text}\0".encode())
    return digest.hexdigest()[:12]
