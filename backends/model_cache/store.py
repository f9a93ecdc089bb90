"""The folder of compiled models: entries with their weights in files that processes map.

An entry is JSON, kept as kernels are: private to the user, with a digest, written whole or not at
all. Weights lie in files of their own, which models with equal weights share.
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
from ..launches import Launches
from ..pyopencl_runtime.cache import BinaryCache

MOST_BYTES = 1 << 31
"""The bytes of all files of the folder, at most; the ones used longest ago go first."""

_SUFFIX = ".weights"

# Of the start of each array: kernels load vectors, and a line of a cache has 64 bytes.
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
class CachedModel:
    """What is kept of a compiled model."""

    launches: Launches
    source: str
    """The OpenCL C of its kernels."""
    program: str
    """The program with declarations of its kernels, as text."""
    target: str
    """The name of its target."""
    remarks: tuple[str, ...]
    accelerators: tuple[str, ...]
    """Those that compute a part, by their names for people."""


@dataclass(frozen=True)
class ModelStore:
    """Compiled models by the facts that they depend on; with no folder it is always empty.

    Everything that goes wrong with a file makes its model absent: it is compiled again.
    """

    folder: Path | None

    def get(self, facts: tuple[str, ...]) -> tuple[CachedModel, Weights] | None:
        """Return the model kept for `facts`."""
        content = self._entries.get(facts)
        if content is None or self.folder is None:
            return None
        table = json.loads(content)
        rows = [_Row(key, type_, tuple(shape), *rest) for key, type_, shape, *rest in table["rows"]]
        data = _map(self.folder / table["weights"], table["bytes"], table["checksum"])
        if data is None:
            return None
        launches = Launches.from_json(table["launches"])
        rest = (table[key] for key in ("source", "program", "target"))
        names = (tuple(table[key]) for key in ("remarks", "accelerators"))
        model = CachedModel(launches, *rest, *names)
        return model, Weights.of({row.key: (_array(data, row), row.hint) for row in rows})

    def put(self, facts: tuple[str, ...], model: CachedModel, weights: Weights) -> None:
        """Keep a model, if there is a place for it."""
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
                "launches": model.launches.as_json(),
                "source": model.source,
                "program": model.program,
                "target": model.target,
                "remarks": model.remarks,
                "accelerators": model.accelerators,
                "weights": name,
                "bytes": size,
                "checksum": checksum,
                "rows": rows,
            }
            self._entries.put(facts, json.dumps(table).encode())
            _trim(self.folder)

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
    """Map a file of weights, unless it is damaged or could be another user's.

    The checksum finds damage alone: the digest of an entry names the file, and nobody else can
    write to the folder.
    """
    if not is_private(path):
        return None
    if not size:
        return np.empty(0, np.uint8)
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size != size:
                return None
            os.utime(file.fileno())  # used today: the last to be forgotten
            content = _mapped(file, size)
    except (OSError, ValueError):
        return None
    return content if _checksum(content) == checksum else None


def _mapped(file: IO[bytes], size: int) -> Array:
    # Copied on writing: a driver may write where a kernel only reads.
    return np.frombuffer(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY), np.uint8)


def _checksum(content: Array) -> int:
    """Return the CRC of the sums of all pages, which takes a fifth of the time of a whole CRC."""
    count = content.size // _PAGE * _PAGE
    words = content[:count].view(np.uint64).reshape(-1, _PAGE // 8)
    return crc32(content[count:].data, crc32(words.sum(axis=1, dtype=np.uint64).data))


def _write(path: Path, rows: list[_Row], weights: Weights) -> int:
    """Write the arrays to `path`, whole or not at all, and return their checksum."""
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
    """Remove the files that were used longest ago until the rest takes `MOST_BYTES` at most."""
    found = ((path, path.stat()) for path in folder.iterdir())
    files = sorted((status.st_mtime_ns, status.st_size, path) for path, status in found)
    excess = sum(size for _, size, _ in files) - MOST_BYTES
    for _, size, path in files:
        if excess <= 0:
            break
        path.unlink(missing_ok=True)
        excess -= size
