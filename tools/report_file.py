"""`--report` of the tools: the page about a model as a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .. import api
from ..errors import CloptError
from ..messages.printable import printable
from .console import write_user_file
from .models import ModelSource

if TYPE_CHECKING:
    from ..reports.profile import Profile


def check_report_path(path: Path | None) -> None:
    """Raise CloptError unless a report can have this name; call it before long computations."""
    if path is not None and path.suffix != ".html":
        raise CloptError(f"{path}: the suffix of a report must be .html.")


def write_report(
    path: Path, model: api.CompiledModel, source: ModelSource, profile: Profile | None = None
) -> None:
    """Write the page about a model completely or not at all."""
    title = f"{printable(source.stem)} for {model.target_name}"
    write_user_file(path, model.report(title=title, profile=profile))
