"""Memory reports as files, in a format chosen by suffix."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from ...errors import CloptError
from ...reports.drawing import to_png, to_svg
from ...reports.memory import MemoryReport
from ...reports.memory.page import page
from ...reports.memory.picture import picture
from ..console import write_user_file

_WRITERS: dict[str, Callable[[MemoryReport, str], str | bytes]] = {
    ".svg": lambda report, title: to_svg(picture(report, title)),
    ".png": lambda report, title: to_png(picture(report, title)),
    ".html": page,
}


def check_path(path: Path) -> None:
    """Raise CloptError unless clopt can write a report with the suffix of `path`."""
    if path.suffix not in _WRITERS:
        raise CloptError(
            f"{path}: the suffix of a memory report must be one of {', '.join(_WRITERS)}."
        )
    if path.suffix == ".png" and find_spec("PIL") is None:
        raise CloptError(
            f"{path}: PNG files need pillow: pip install 'clopt[report]'; .svg and .html do not."
        )


def write_report(report: MemoryReport, title: str, path: Path) -> None:
    """Write the report completely or not at all; the same report always gives the same bytes."""
    write_user_file(path, _WRITERS[path.suffix](report, title))
