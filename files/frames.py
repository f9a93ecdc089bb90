"""Messages on a stream of bytes, such as a pipe or a socket.

Each message follows its length, eight bytes in little-endian order.
"""

from __future__ import annotations

import struct
from typing import IO

_LENGTH = struct.Struct("<Q")


def send_frame(stream: IO[bytes], content: bytes) -> None:
    """Send a message and flush the stream."""
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


class FrameError(EOFError):
    """A message exceeds the maximum length, so the other side does not send frames."""


def receive_frame(stream: IO[bytes], most: int | None = None) -> bytes:
    """Return the next message.

    Raises EOFError if the stream ends too early, and FrameError for more than `most` bytes.
    """
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    if most is not None and length > most:
        raise FrameError
    return _exactly(stream, length)


def _exactly(stream: IO[bytes], count: int) -> bytes:
    content = stream.read(count)
    if len(content) < count:
        raise EOFError
    return content
