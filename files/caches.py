"""The places where clopt keeps files between processes, and the checks that make them safe.

Caches contain code: kernels and shared libraries. So only the user may be able to write to their
folder, and clopt replaces files that do not belong to the user.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import tempfile
from functools import cache
from pathlib import Path

from platformdirs import user_cache_dir

from ..errors import warn

_SHARED_MEMORY = "/dev/shm"  # on Linux; in some containers the only writable folder
_LEAST_BYTES = 16 << 20  # twenty times the kernels of a large network
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def user_cache(name: str) -> Path | None:
    """Return the folder `name` of the user's cache; None if the user has no home.

    Warns once if clopt cannot write there. Files of earlier processes may still be readable.
    """
    is_cache_kept()
    return cache_place(name)


def cache_place(name: str) -> Path | None:
    """Return the path of `name` in the user's cache; None if the user has no home."""
    root = _root()
    return root / name if root.is_absolute() else None


def is_cache_kept() -> bool:
    """Return whether the user's cache can be written; if not, warn once."""
    return _is_kept(_root())


def process_folder() -> Path:
    """Return a folder of this process, which clopt removes when the process ends.

    Raises OSError if no place for it is writable.
    """
    return _process_folder(os.getpid())


def cache_folder(name: str) -> Path:
    """Return the folder `name` of the user's cache, or of this process if the cache is unusable.

    Raises OSError if neither is writable.
    """
    return (_root() if is_cache_kept() else process_folder()) / name


def make_private(folder: Path) -> bool:
    """Make a folder that others cannot write to; return whether it is safe and writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = folder.stat()
        if _is_of_others(found):
            return False
        if os.name == "posix" and found.st_mode & _OTHERS_WRITE:
            folder.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS_WRITE)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def has_space(folder: Path) -> bool:
    """Return whether the disk of a folder has room for the kernels of a process.

    PoCL aborts the process if its compiler finds the disk full.
    """
    place = folder.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        return shutil.disk_usage(place).free >= _LEAST_BYTES
    except OSError:
        return False


def is_private(path: Path) -> bool:
    """Return whether only the user can write to a file and its folder; False for symbolic links."""
    try:
        file, folder = path.lstat(), path.parent.stat()
    except OSError:
        return False
    is_open = os.name == "posix" and (file.st_mode | folder.st_mode) & _OTHERS_WRITE
    others = _is_of_others(file) or _is_of_others(folder)
    return stat.S_ISREG(file.st_mode) and not is_open and not others


def _is_of_others(found: os.stat_result) -> bool:
    return hasattr(os, "geteuid") and found.st_uid != os.geteuid()


def _root() -> Path:
    """Return the user's cache.

    It starts with "~" if neither HOME nor the user database names a home.
    """
    return Path(user_cache_dir("clopt"))


@cache
def _is_kept(root: Path) -> bool:
    kept = root.is_absolute() and make_private(root) and has_space(root)
    if not kept:
        warn(
            f"clopt cannot store files in {root}, so each process compiles its kernels again; "
            "set XDG_CACHE_HOME to a writable folder of yours with at least "
            f"{_LEAST_BYTES >> 20} MB of free space."
        )
    return kept


@cache
def _process_folder(process: int) -> Path:
    try:
        usual = tempfile.gettempdir()
    except OSError:
        usual = _SHARED_MEMORY
    is_full = not has_space(Path(usual)) and has_space(Path(_SHARED_MEMORY))
    folder = Path(tempfile.mkdtemp(prefix="clopt-", dir=_SHARED_MEMORY if is_full else usual))
    atexit.register(_remove, folder, process)
    return folder


def _remove(folder: Path, process: int) -> None:
    """Remove a folder, unless this is a fork of its process, which inherits the call."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
