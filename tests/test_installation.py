"""The package as it is installed, which `tests/run.sh` tests, has what the repository has."""

from __future__ import annotations

from pathlib import Path

import pytest

import clopt

REPOSITORY = Path(__file__).parents[1]
INSTALLED = Path(clopt.__file__).parent


def files(root: Path) -> dict[Path, bytes]:
    """What a package has to have: modules, and files that they read, such as databases."""
    rooms = [path.parent.name for path in REPOSITORY.glob("*/__init__.py")]
    found = [root / "py.typed", *(path for room in rooms for path in (root / room).rglob("*"))]
    return {
        path.relative_to(root): path.read_bytes()
        for path in found
        if path.is_file() and path.suffix not in (".pyc", ".md")
    }


@pytest.mark.skipif(INSTALLED == REPOSITORY, reason="clopt is a checkout here, not installed")
def test_every_file_of_the_package_is_installed() -> None:
    assert files(INSTALLED) == files(REPOSITORY)
