"""Write a folder completely or not at all, and replace only folders that clopt wrote.

Each such folder has a manifest, a JSON file that lists the other files with their digests.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import cast

from ..errors import CloptError
from ..messages.printable import printable
from .reading import check_regular, read_file
from .writing import write_atomically

FILES = "files"
"""The key in a manifest that lists the files: a map from paths to digests."""


def replace_folder(
    folder: Path, write: Callable[[Path], None], manifest: str = "", holds: str = ""
) -> None:
    """Let `write` fill a new folder beside `folder`, then put it in the place of `folder`.

    An existing folder must be empty, or consist of the unchanged files in its `manifest`; `holds`
    describes such a folder in messages. Without a manifest it must be empty. If anything fails,
    `folder` stays unchanged. Raises CloptError if clopt cannot or must not write.
    """
    place = Path(os.path.realpath(folder))  # keeps a link to a folder
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as scratch:
            fresh, old = Path(scratch, "new"), Path(scratch, "old")
            fresh.mkdir()
            write(fresh)
            if place.exists():
                _check_replaceable(place, folder, manifest, holds)
                place.rename(old)
            fresh.rename(place)
    except OSError as error:
        raise CloptError(f"Cannot write the folder {folder}: {error.strerror}.") from error


def add_written(folder: Path, manifest: str, file: Path) -> None:
    """Add a file to the manifest of `folder`, such as a report that clopt wrote there later.

    Does nothing for a file elsewhere. Raises OSError if clopt cannot write.
    """
    place, path = folder.resolve(), file.resolve()
    if not path.is_relative_to(place) or not path.is_file():
        return
    description = json.loads(read_file(place / manifest))
    description[FILES][path.relative_to(place).as_posix()] = _digest_of_file(path)
    write_atomically(place / manifest, f"{json.dumps(description, indent=2)}\n".encode())


def digest(content: bytes) -> str:
    """Return the digest of a file's content, as a manifest lists it."""
    return hashlib.sha256(content).hexdigest()


def digests(folder: Path) -> dict[str, str]:
    """Return the digests of all files below `folder` by path, in order."""
    return {name: _digest_of_file(folder / name) for name in sorted(_names(folder))}


def _check_replaceable(place: Path, folder: Path, manifest: str, holds: str) -> None:
    if not place.is_dir():
        raise CloptError(f"{folder} exists and is a file; name another folder.")
    names = sorted(_names(place))
    if not names:
        return
    if manifest not in names:
        why = f"is no {holds}" if holds else "is not empty"
        raise CloptError(f"{folder} exists and {why}; name another folder.")
    listed = _listed_files(place / manifest)
    if listed is None:
        raise CloptError(
            f"{folder / manifest} does not list the files that clopt wrote there; name another "
            f"folder than {folder}."
        )
    for name in names:
        if name != manifest and name not in listed:
            raise CloptError(
                f"{folder} has {printable(name)}, which clopt did not write; move it, or name "
                "another folder."
            )
    for name in names:
        if name != manifest and _digest_of_file(place / name) != listed[name]:
            raise CloptError(
                f"{folder / printable(name)} has changed since clopt wrote it; move it, or name "
                "another folder."
            )


def _names(folder: Path) -> Iterator[str]:
    """Yield the paths of everything below `folder` except non-empty folders."""
    for root, folders, files in os.walk(folder):
        links = [name for name in folders if Path(root, name).is_symlink()]
        empty = [] if folders or files or Path(root) == folder else [""]
        for name in (*files, *links, *empty):
            yield Path(root, name).relative_to(folder).as_posix()


def _digest_of_file(path: Path) -> str:
    """Return the digest of a regular file; empty for a link, a pipe or a folder."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return ""
    check_regular(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _listed_files(manifest: Path) -> dict[str, str] | None:
    """Return the digests in a manifest by path, or None if the file is not a manifest."""
    if manifest.is_symlink():
        return None
    try:
        parsed: object = json.loads(read_file(manifest))
    except (OSError, ValueError, RecursionError):
        return None
    listed = cast("dict[str, object]", parsed).get(FILES) if isinstance(parsed, dict) else None
    if not isinstance(listed, dict):
        return None
    return {name: str(value) for name, value in cast("dict[str, object]", listed).items()}


def forget_oldest(folder: Path, pattern: str, kept: int) -> None:
    """Remove all files that match `pattern`, except the `kept` most recently used.

    Files that clopt cannot remove stay.
    """
    with suppress(OSError):
        entries = list(folder.glob(pattern))
        if len(entries) > kept:
            entries.sort(key=lambda entry: entry.stat().st_mtime)
            for entry in entries[:-kept]:
                entry.unlink(missing_ok=True)
