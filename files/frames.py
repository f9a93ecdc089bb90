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


class FrameError(EOFError):
    """A message that is longer than it may be: the other side sends something else."""


def receive_frame(stream: IO[bytes], most: int | None = None) -> bytes:
    """The next message. Raises EOFError where the stream ends before its end.

    Raises FrameError for more than `most` bytes.
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
