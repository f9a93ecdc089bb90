"""Compiled kernels on disk, so that each model is compiled only once on a machine."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...files.caches import is_private, make_private, user_cache
from ...files.folders import forget_oldest
from ...files.reading import read_file
from ...files.writing import write_atomically

_FORMAT = b"clopt-kernels-2\n"
_DIGEST_BYTES = 32
_SUFFIX = ".bin"

# Entries that `trim` keeps: 10,000 kernels of some 10 KB take about 100 MB.
_KEPT = 10_000


def default_cache_folder() -> Path | None:
    """Return the default folder of compiled kernels, or None without a home directory."""
    return user_cache("kernels")


@dataclass(frozen=True)
class BinaryCache:
    """Binaries by the facts on which they depend; without a folder it is always empty.

    Processes may share a folder, because entries are written atomically. An entry counts as absent
    if it is damaged, was made for other facts, or could have been written by another user. If the
    folder is not writable (a full disk, a read-only home), kernels are compiled again.
    """

    folder: Path | None

    def get(self, facts: tuple[str, ...]) -> bytes | None:
        """Return the binary stored for `facts`, or None."""
        if self.folder is None:
            return None
        path = self.folder / _entry_name(facts)
        if not is_private(path):
            return None
        try:
            content = read_file(path)
            os.utime(path)  # `trim` forgets entries by their last use
        except OSError:
            return None
        binary = content[len(_FORMAT) + _DIGEST_BYTES :]
        return binary if content == _entry(facts, binary) else None

    def put(self, facts: tuple[str, ...], binary: bytes) -> None:
        """Store `binary` for `facts`."""
        if self.folder is None:
            return
        if make_private(self.folder):
            with suppress(OSError):
                write_atomically(self.folder / _entry_name(facts), _entry(facts, binary))

    def trim(self) -> None:
        """Delete the least recently used entries if there are too many."""
        if self.folder is None:
            return
        forget_oldest(self.folder, f"*{_SUFFIX}", _KEPT)


def _entry(facts: tuple[str, ...], binary: bytes) -> bytes:
    """Return the content of an entry: a digest binds the binary to its facts."""
    key = "\0".join(facts).encode()
    return _FORMAT + hashlib.sha256(b"%d\0%b%b" % (len(key), key, binary)).digest() + binary


def _entry_name(facts: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(facts).encode()).hexdigest() + _SUFFIX
