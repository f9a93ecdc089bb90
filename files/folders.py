"""Folders that are written whole or not at all, and cleaning a cache."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..errors import CloptError


def replace_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a new folder beside `folder`, then put it in its place.

    `folder` stays unchanged if anything fails. Raises CloptError where clopt cannot write.
    """
    parent = folder.absolute().parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent, prefix=f".{folder.name}.") as scratch:
            fresh, old = Path(scratch, "new"), Path(scratch, "old")
            fresh.mkdir()
            write(fresh)
            if folder.exists():
                folder.rename(old)
            fresh.rename(folder)
    except OSError as error:
        raise CloptError(f"Cannot write the folder {folder}: {error.strerror}.") from error


def forget_oldest(folder: Path, pattern: str, kept: int) -> None:
    """Remove all but the `kept` most recently used files that match `pattern`.

    A file that clopt cannot remove stays.
    """
    with suppress(OSError):
        entries = list(folder.glob(pattern))
        if len(entries) > kept:
            entries.sort(key=lambda entry: entry.stat().st_mtime)
            for entry in entries[:-kept]:
                entry.unlink(missing_ok=True)
