"""The folder of cached models: entries, and files of weights that processes map.

An entry is JSON, stored like a compiled kernel: private to the user, with a digest, written
atomically. Weights are files of their own, which models with equal weights share.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple
from zlib import crc32

import numpy as np

from ...files.caches import is_private, make_private
from ...weights import Array, Weights
from ..pyopencl_runtime.cache import BinaryCache
from ..stored_program import StoredProgram

MOST_BYTES = 1 << 31
"""Most bytes of all files in the folder; the least recently used are deleted first."""

_SUFFIX = ".weights"

# Alignment in bytes of each array: two cache lines of 64 bytes, and a multiple of any vector.
_ALIGNMENT = 128

_PAGE = 4096


class _Row(NamedTuple):
    """An array in a file of weights."""

    key: str
    type: str
    shape: tuple[int, ...]
    offset: int
    hint: str


@dataclass(frozen=True)
class ModelStore:
    """Compiled models by the facts on which they depend; without a folder it is always empty.

    If anything is wrong with a file, its model counts as absent and is compiled again.
    """

    folder: Path | None

    def get(self, facts: tuple[str, ...]) -> tuple[StoredProgram, Weights] | None:
        """Return the model stored for `facts` with its weights, or None."""
        content = self._entries.get(facts)
        if content is None or self.folder is None:
            return None
        table = json.loads(content)
        rows = [_Row(key, type_, tuple(shape), *rest) for key, type_, shape, *rest in table["rows"]]
        data = _map(self.folder / table["weights"], table["bytes"], table["checksum"])
        if data is None:
            return None
        program = StoredProgram.from_json(table["program"])
        return program, Weights.of({row.key: (_array(data, row), row.hint) for row in rows})

    def put(self, facts: tuple[str, ...], program: StoredProgram, weights: Weights) -> None:
        """Store a model, unless its weights exceed half of the folder's limit."""
        if self.folder is None or not make_private(self.folder):
            return
        rows = _rows(weights)
        size = rows[-1].offset + weights.get(rows[-1].key).nbytes if rows else 0
        if size > MOST_BYTES // 2:
            return
        name = hashlib.sha256(json.dumps(rows).encode()).hexdigest() + _SUFFIX
        with suppress(OSError):
            checksum = _write(self.folder / name, rows, weights)
            table: dict[str, Any] = {
                "program": program.as_json(),
                "weights": name,
                "bytes": size,
                "checksum": checksum,
                "rows": rows,
            }
            self._entries.put(facts, json.dumps(table).encode())
            _trim(self.folder)

    def get_text(self, facts: tuple[str, ...]) -> str | None:
        """Return the text stored for `facts`, or None."""
        content = self._entries.get(facts)
        return None if content is None else content.decode()

    def put_text(self, facts: tuple[str, ...], text: str) -> None:
        """Store a short text."""
        if self.folder is not None and make_private(self.folder):
            self._entries.put(facts, text.encode())

    @property
    def _entries(self) -> BinaryCache:
        return BinaryCache(self.folder)


def _rows(weights: Weights) -> list[_Row]:
    rows: list[_Row] = []
    offset = 0
    for key in sorted(weights.keys()):
        array = weights.get(key)
        rows.append(_Row(key, array.dtype.str, array.shape, offset, weights.hint(key)))
        offset += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    return rows


def _array(data: Array, row: _Row) -> Array:
    dtype = np.dtype(row.type)
    size = int(np.prod(row.shape, dtype=np.int64)) * dtype.itemsize
    array = data[row.offset : row.offset + size].view(dtype).reshape(row.shape)
    array.flags.writeable = False
    return array


def _map(path: Path, size: int, checksum: int) -> Array | None:
    """Map a file of weights; return None if it is damaged or could be another user's.

    A 32-bit checksum suffices against damage: the entry's digest protects the file's name, and no
    other user can write to the folder.
    """
    if not is_private(path):
        return None
    if not size:
        return np.empty(0, np.uint8)
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size != size:
                return None
            os.utime(file.fileno())  # `_trim` deletes files by their last use
            content = _mapped(file, size)
    except (OSError, ValueError):
        return None
    return content if _checksum(content) == checksum else None


def _mapped(file: IO[bytes], size: int) -> Array:
    # Copy on write: some drivers write to memory that a kernel only reads.
    return np.frombuffer(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY), np.uint8)


def _checksum(content: Array) -> int:
    """Return the CRC of the sums of all pages, which takes a fifth of the time of a whole CRC."""
    count = content.size // _PAGE * _PAGE
    words = content[:count].view(np.uint64).reshape(-1, _PAGE // 8)
    return crc32(content[count:].data, crc32(words.sum(axis=1, dtype=np.uint64).data))


def _write(path: Path, rows: list[_Row], weights: Weights) -> int:
    """Write the arrays to `path` atomically, and return their checksum."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    position = checksum = 0
    try:
        with os.fdopen(handle, "w+b") as file:
            for row in rows:
                padding = bytes(row.offset - position)
                array = np.ascontiguousarray(weights.get(row.key)).reshape(-1).view(np.uint8)
                for part in (padding, array.data):
                    file.write(part)
                position = row.offset + array.nbytes
            file.flush()
            if position:
                checksum = _checksum(_mapped(file, position))
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return checksum


def _trim(folder: Path) -> None:
    """Delete the least recently used files until the others take at most `MOST_BYTES`."""
    statuses = ((path, path.stat()) for path in folder.iterdir())
    files = sorted((status.st_mtime_ns, status.st_size, path) for path, status in statuses)
    excess = sum(size for _, size, _ in files) - MOST_BYTES
    for _, size, path in files:
        if excess <= 0:
            break
        path.unlink(missing_ok=True)
        excess -= size
