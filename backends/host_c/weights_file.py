"""The weights of a package: one file with a checksum, each constant at an aligned offset.

`runtime/clopt_files.c` documents the format and reads it.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...weights import Weights

ALIGNMENT = 64
DIGEST_BYTES = 16
TEXEL_BYTES = 16
"""Bytes of the largest texel. OpenCL has no empty images, so an empty one gets one texel."""
_VERSION = 1
_HEADER = struct.Struct("<8sIIQII16s16x")


@dataclass(frozen=True)
class Constants:
    """The constants of a weights file, without its header."""

    payload: bytes
    offsets: dict[str, int]
    """The byte offset of each array in the file, by its key."""

    @property
    def file_bytes(self) -> int:
        """The size of the file in bytes."""
        return _HEADER.size + len(self.payload)

    def file(self, digest: bytes) -> bytes:
        """Return the file; `digest` ties it to the sources of its model."""
        header = _HEADER.pack(
            b"CLOPTWTS",
            _VERSION,
            ALIGNMENT,
            self.file_bytes,
            zlib.crc32(self.payload),
            0,
            digest,
        )
        return header + self.payload


def gather(weights: Weights, keys: Iterable[str]) -> Constants:
    """Gather the arrays `keys` of `weights`; arrays with equal bytes share one place.

    An empty array gets the bytes of one texel, which the image of an empty constant reads.
    """
    payload = bytearray()
    offsets: dict[str, int] = {}
    places: dict[bytes, int] = {}
    for key in keys:
        if key in offsets:
            continue
        array = weights.get(key)
        content = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        content = content or bytes(TEXEL_BYTES)
        digest = hashlib.sha256(content).digest()
        if digest not in places:
            payload += bytes(-len(payload) % ALIGNMENT)
            places[digest] = _HEADER.size + len(payload)
            payload += content
        offsets[key] = places[digest]
    return Constants(bytes(payload), offsets)
