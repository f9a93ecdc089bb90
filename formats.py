"""The formats of models' files: those of clopt, and those that other packages bring.

The second start of a model needs this, and no xDSL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .plugins import plugins, refuse_twice

FORMATS = ("onnx", "mlir")
"""The suffixes of files that clopt itself reads as models."""

GROUP = "clopt.frontends"
"""The group of entry points that import files of other formats, each by its suffix."""

_TAKEN = (*FORMATS, "linalg")


def foreign_formats() -> Mapping[str, Callable[..., Any]]:
    """Return the importers of other packages, by the suffixes of their files without the dot."""
    found = plugins(GROUP)
    for name in _TAKEN:
        refuse_twice(GROUP, name, found)
    return found


def format_of(path: str | Path) -> str:
    """Return the suffix of a model's file without the dot; onnx for one that nothing claims."""
    suffix = Path(path).suffix.removeprefix(".")
    return suffix if suffix in FORMATS or suffix in foreign_formats() else FORMATS[0]
