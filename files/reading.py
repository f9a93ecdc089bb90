"""Reading files that the user did not name: caches, and files beside a model.

Such a file may come from an archive. It may be a pipe, a device, a link, or too large.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MOST_BYTES = 1 << 28
"""The default limit: more than any text or binary that clopt writes, and still safe to read."""

NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
"""The flag that makes opening a link fail, so that nothing is written through links."""

_NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # otherwise opening a pipe waits for its writer
_BINARY = getattr(os, "O_BINARY", 0)


def read_file(path: Path, limit: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file; raise OSError for other files, and beyond `limit`."""
    with os.fdopen(os.open(path, os.O_RDONLY | _NO_WAITING | _BINARY), "rb") as file:
        status = os.fstat(file.fileno())
        _check_regular(status, path)
        if status.st_size > limit:
            raise OSError(errno.EFBIG, f"it has {status.st_size} bytes, the limit is {limit}", path)
        return file.read(limit)


def read_text_file(path: Path, limit: int = MOST_BYTES) -> str:
    """Return the text of a regular UTF-8 file. Raises OSError or UnicodeDecodeError."""
    text = read_file(path, limit).decode("utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check_regular(path: Path) -> None:
    """Raise OSError unless `path` is a regular file or a link to one.

    Use this for libraries that open the file themselves.
    """
    _check_regular(path.stat(), path)


def _check_regular(status: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", path)
