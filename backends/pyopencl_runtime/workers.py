"""Helper processes that compile kernels side by side.

A helper reads sources from stdin and answers with binaries on stdout, each preceded by its length
in eight bytes; length 0 means failure. The caller compiles failed sources again, to get the error
message.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import IO

import pyopencl as cl

from .compiler import binary_of, from_source
from .devices import Device, find_device

# Starting a helper takes half a second, which is the time to compile about this much source.
_BYTES_PER_HELPER = 50_000

_LENGTH = struct.Struct("<Q")


def compile_in_processes(
    device: Device, sources: Mapping[str, str], options: str
) -> dict[str, bytes]:
    """The binaries of those `sources` that helpers could compile; none for small models."""
    size = sum(map(len, sources.values()))
    count = min(_cores(), size // _BYTES_PER_HELPER, len(sources))
    if count < 2 or device.index < 0:
        return {}
    waiting: SimpleQueue[str] = SimpleQueue()
    # Largest first, so that no helper starts a large one at the end.
    for key in sorted(sources, key=lambda key: -len(sources[key])):
        waiting.put(key)
    binaries: dict[str, bytes] = {}

    def serve() -> None:
        program = f"from {__name__} import main; main({device.index}, {options!r})"
        with subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as helper:
            assert helper.stdin is not None
            assert helper.stdout is not None
            try:
                while True:
                    key = waiting.get_nowait()
                    _send(helper.stdin, sources[key].encode())
                    binary = _receive(helper.stdout)
                    if binary:
                        binaries[key] = binary
            except (Empty, OSError, EOFError):
                return

    with ThreadPoolExecutor(count) as threads:
        for _ in range(count):
            threads.submit(serve)
    return binaries


def main(index: int, options: str) -> None:
    """Compile each source that comes on stdin for the device `index`, until stdin ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # compilers chat on stdout
    device = find_device(index)
    context = cl.Context([device.handle])
    while True:
        try:
            source = _receive(sys.stdin.buffer).decode()
        except EOFError:
            return
        try:
            binary = binary_of(from_source(context, device, source, options), device)
        except RuntimeError:
            binary = b""
        _send(answers, binary)


def _send(stream: IO[bytes], content: bytes) -> None:
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


def _receive(stream: IO[bytes]) -> bytes:
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(header)
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
