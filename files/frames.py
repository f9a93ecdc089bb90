"""Messages on a stream of bytes, such as a pipe or a socket: each follows its length.

The length is a number of eight bytes, the lowest first.
"""

from __future__ import annotations

import struct
from typing import IO

_LENGTH = struct.Struct("<Q")


def send_frame(stream: IO[bytes], content: bytes) -> None:
    """Send a message at once."""
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


def receive_frame(stream: IO[bytes]) -> bytes:
    """The next message. Raises EOFError where the stream ends before its end."""
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return _exactly(stream, length)


def _exactly(stream: IO[bytes], count: int) -> bytes:
    content = stream.read(count)
    if len(content) < count:
        raise EOFError
    return content
