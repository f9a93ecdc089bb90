"""Digests of file contents, cached for files that have not changed since."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..pyopencl_runtime.cache import BinaryCache

_FORMAT = "clopt-file-1"
_CHUNK = 1 << 18
_LONGEST = 1 << 13  # bytes of the longest location, with the words around it

# Hashing a smaller file takes no longer than looking up its cached digest.
_REMEMBERED = 1 << 20

# A file that has just changed may change again within the resolution of its timestamps, so its
# digest is not cached.
_SETTLED_NS = 2_000_000_000

# The key "location" of protobuf's StringStringEntryProto; the tag of its value is `_VALUE`.
_LOCATION = b"\x0a\x08location"
_VALUE = 0x12

_NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # otherwise opening a pipe waits for its writer


class Content(NamedTuple):
    """The content of a file."""

    digest: str
    locations: tuple[str, ...] = ()
    """The names of the files with external data, if it is an ONNX model."""


@dataclass
class FileDigests:
    """A reader of file contents that caches their digests.

    A file counts as unchanged if its inode, size and times of modification and change are the same.
    Programs cannot set the time of change, and every write updates it.
    """

    kept: BinaryCache
    _contents: dict[tuple[str, ...], Content | None] = field(
        default_factory=dict[tuple[str, ...], Content | None]
    )

    def content_of(self, path: Path) -> Content | None:
        """Return the content of a regular file, or None if it is absent or cannot be interpreted.

        Raises OSError if it cannot be read.
        """
        try:
            with os.fdopen(_open(path), "rb", buffering=0) as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    return None
                identity = _identity(status)
                if identity not in self._contents:
                    self._contents[identity] = self._remembered(identity, status) or self._read(
                        file.fileno(), identity, status
                    )
                return self._contents[identity]
        except FileNotFoundError:
            return None

    def _remembered(self, identity: tuple[str, ...], status: os.stat_result) -> Content | None:
        if status.st_size < _REMEMBERED or (kept := self.kept.get(identity)) is None:
            return None
        digest, locations = json.loads(kept)
        return Content(digest, tuple(locations))

    def _read(self, file: int, identity: tuple[str, ...], status: os.stat_result) -> Content | None:
        content = _read(file)
        after = os.fstat(file)
        if content is None or _identity(after) != identity:
            return None
        changed = max(status.st_mtime_ns, status.st_ctime_ns)
        if status.st_size >= _REMEMBERED and changed + _SETTLED_NS < time.time_ns():
            self.kept.put(identity, json.dumps(content).encode())
        return content


def content_of_bytes(data: bytes) -> Content | None:
    """Return the content of an in-memory model, or None if it refers to other files."""
    return None if _LOCATION in data else Content(hashlib.sha256(data).hexdigest())


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | _NO_WAITING)


def _identity(status: os.stat_result) -> tuple[str, ...]:
    places = status.st_dev, status.st_ino, status.st_size
    return (_FORMAT, *map(str, (*places, status.st_mtime_ns, status.st_ctime_ns)))


def _read(file: int) -> Content | None:
    """Read a file to its end through one buffer: new pages would cost more than hashing."""
    digest = hashlib.sha256()
    buffer = bytearray(_LONGEST + _CHUNK)
    view = memoryview(buffer)
    locations: dict[str, None] = {}
    kept = 0  # bytes of the last chunk that precede the next one in the buffer
    with os.fdopen(os.dup(file), "rb", buffering=0) as stream:
        while count := stream.readinto(view[kept : kept + _CHUNK]):
            end = kept + count
            digest.update(view[kept:end])
            for location in _locations(buffer, end):
                if location is None:
                    return None
                locations[location] = None
            kept = min(end, _LONGEST)
            buffer[:kept] = buffer[end - kept : end]
    return Content(digest.hexdigest(), tuple(locations))


def _locations(buffer: bytearray, end: int) -> Iterator[str | None]:
    """Yield the locations that end before `end`, and None for one in an unexpected form."""
    start = buffer.find(_LOCATION, 0, end)
    while start >= 0:
        at = start + len(_LOCATION)
        header = bytes(buffer[at : min(at + 3, end)])
        if len(header) == 3:
            length, begin = (header[1], at + 2) if header[1] < 0x80 else (_wide(header), at + 3)
            if header[0] != _VALUE or length > _LONGEST // 2:
                yield None
            elif begin + length <= end:
                try:
                    yield buffer[begin : begin + length].decode()
                except UnicodeDecodeError:
                    yield None
        start = buffer.find(_LOCATION, at, end)


def _wide(header: bytes) -> int:
    """Return a varint of two bytes; for a longer one, a value that exceeds any location."""
    return (header[1] & 0x7F) | header[2] << 7 if header[2] < 0x80 else _LONGEST
