"""Reading files that the user did not name: caches, and files that lie beside a model.

Such a file may come from an archive, and may be a pipe, a device, a link or of any size.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MOST_BYTES = 1 << 28
"""The default limit: larger than any text or binary that clopt writes, and harmless to read."""

NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
"""The flag with which opening a link fails, so that nothing is written through one."""

_NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # opening a pipe would wait for its writer
_BINARY = getattr(os, "O_BINARY", 0)


def read_file(path: Path, limit: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file. Raises OSError for any other, and beyond `limit`."""
    with os.fdopen(os.open(path, os.O_RDONLY | _NO_WAITING | _BINARY), "rb") as file:
        status = os.fstat(file.fileno())
        _check_regular(status, path)
        if status.st_size > limit:
            raise OSError(errno.EFBIG, f"it has {status.st_size} bytes, {limit} are allowed", path)
        return file.read(limit)


def read_text_file(path: Path, limit: int = MOST_BYTES) -> str:
    """Return the text of a regular file of UTF-8. Raises OSError or UnicodeDecodeError."""
    text = read_file(path, limit).decode("utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check_regular(path: Path) -> None:
    """Raise OSError unless `path`, or the target of this link, is a regular file.

    For libraries that open the file themselves.
    """
    _check_regular(path.stat(), path)


def _check_regular(status: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", path)
