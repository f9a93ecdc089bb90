"""The formats of model files: clopt's own, and those of other packages.

This module does not import xDSL, because the second start of a model needs only this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .plugins import plugins, refuse_twice

FORMATS = ("onnx", "mlir")
"""The suffixes of model files that clopt itself reads."""

GROUP = "clopt.frontends"
"""The group of entry points for importers of other formats, named by file suffix."""

_TAKEN = (*FORMATS, "linalg")


def foreign_formats() -> Mapping[str, Callable[..., Any]]:
    """Return the importers of other packages by file suffix without the dot."""
    found = plugins(GROUP)
    for name in _TAKEN:
        refuse_twice(GROUP, name, found)
    return found


def format_of(path: str | Path) -> str:
    """Return the suffix of a model file without the dot; `onnx` for an unknown suffix."""
    suffix = Path(path).suffix.removeprefix(".")
    return suffix if suffix in FORMATS or suffix in foreign_formats() else FORMATS[0]
