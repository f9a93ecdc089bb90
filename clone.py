"""A warning for clones of the repository that hide an installed clopt.

The repository root is the package. If a clone named `clopt` is in the folder of a script, or in the
current folder of `python -c`, Python finds it before the installed package.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from .errors import warn
from .version import VERSION


@cache
def warn_of_hidden_installation() -> None:
    """Warn once if this clone hides an installation of clopt elsewhere."""
    ours = Path(__file__).parent
    if not (ours / "pyproject.toml").is_file() or not _is_found_by_path(ours):
        return
    hidden = _installed_elsewhere(ours)
    if hidden is not None:
        warn(
            f"this is clopt {VERSION} from the clone {ours}, which hides the installation in "
            f"{hidden}; to use that, start Python elsewhere or rename the clone."
        )


def _is_found_by_path(ours: Path) -> bool:
    """Return whether `sys.path` has the parent folder of a clone, which no installation adds."""
    return os.path.realpath(ours.parent) in map(os.path.realpath, sys.path)


def _installed_elsewhere(ours: Path) -> Path | None:
    """Return the folder of another installed package, or None.

    Editable installations have no folder.
    """
    from importlib.metadata import distributions

    for distribution in distributions(name="clopt"):
        folder = Path(str(distribution.locate_file("clopt")))
        if (folder / "__init__.py").is_file() and not folder.samefile(ours):
            return folder
    return None
