"""Atomic writing: readers see a file completely or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from .reading import check_regular

_BINARY = getattr(os, "O_BINARY", 0)


def write_atomically(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Write `content` to `path` so that other processes see all of it or nothing.

    A link at `path` is replaced, not followed; a device or a pipe raises OSError. A new file gets
    `mode` without the bits of the umask; an existing file keeps its mode.
    """
    if path.exists() and not path.is_symlink():
        check_regular(path)
        mode = path.stat().st_mode & 0o777
    # O_EXCL fails on a link that another user created there.
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
    with os.fdopen(os.open(temporary, flags, mode), "wb") as file:
        try:
            file.write(content)
            file.close()
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
