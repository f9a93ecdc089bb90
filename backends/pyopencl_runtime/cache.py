"""Compiled kernels on disk, so that a model is compiled once on a machine."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_dir

from ...folders import forget_oldest
from .files import write_atomically

_FORMAT = b"clopt-kernels-1\n"
_DIGEST_BYTES = 32
_SUFFIX = ".bin"

# Entries that `trim` leaves: a kernel takes some ten kilobytes.
_KEPT = 10_000


def default_cache_folder() -> Path:
    """Where binaries are kept unless the caller says otherwise."""
    return Path(user_cache_dir("clopt")) / "kernels"


@dataclass(frozen=True)
class BinaryCache:
    """Binaries by the facts they depend on; with no folder it is always empty.

    Processes may share a folder: an entry appears whole or not at all. A damaged entry counts as
    absent. A folder that cannot be written (a full disk, a read-only home) costs time alone.
    """

    folder: Path | None

    def get(self, facts: tuple[str, ...]) -> bytes | None:
        """What was stored for `facts`."""
        if self.folder is None:
            return None
        path = self.folder / _entry_name(facts)
        try:
            content = path.read_bytes()
            os.utime(path)  # used today: the last to be forgotten
        except OSError:
            return None
        header = len(_FORMAT) + _DIGEST_BYTES
        binary = content[header:]
        intact = content[:header] == _FORMAT + hashlib.sha256(binary).digest()
        return binary if intact else None

    def put(self, facts: tuple[str, ...], binary: bytes) -> None:
        """Store `binary` for `facts`."""
        if self.folder is None:
            return
        digest = hashlib.sha256(binary).digest()
        with suppress(OSError):
            write_atomically(self.folder / _entry_name(facts), _FORMAT + digest + binary)

    def trim(self) -> None:
        """Forget the entries that were not used for the longest time, if there are too many."""
        if self.folder is None:
            return
        forget_oldest(self.folder, f"*{_SUFFIX}", _KEPT)


def _entry_name(facts: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(facts).encode()).hexdigest() + _SUFFIX
