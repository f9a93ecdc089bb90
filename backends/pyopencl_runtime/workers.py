"""Helper processes that share the work of compiling kernels with this process.

A helper reads a message from stdin, says by an empty one on stdout that it is ready, then reads
jobs and answers each, all as frames. An empty answer means failure. Jobs that no helper did are
left to the caller, who gets the error message by trying again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue

from ...files.frames import receive_frame, send_frame
from .environment import environment_of_helpers

# Starting a helper takes half a second, which is the time to compile about this much source.
_BYTES_PER_WORKER = 50_000


def share_work(
    sources: Mapping[str, str],
    helper: str,
    here: Callable[[str], object],
    job: Callable[[str], bytes],
    start: bytes = b"",
) -> dict[str, bytes]:
    """The answers of helpers for a part of `sources`, by their keys.

    `here` does the job of a key in this process, meanwhile. `helper` is the Python of a helper,
    which calls `answer_jobs`; `job` is the message for a key, `start` one before all jobs. Small
    models are left to the caller.
    """
    count = min(_cores(), sum(map(len, sources.values())) // _BYTES_PER_WORKER, len(sources))
    if count < 2:
        return {}
    waiting: SimpleQueue[str] = SimpleQueue()
    # Largest first, so that no worker starts a large one at the end.
    for key in sorted(sources, key=lambda key: -len(sources[key])):
        waiting.put(key)
    answers: dict[str, bytes] = {}
    starting: set[subprocess.Popen[bytes]] = set()

    def serve() -> None:
        with _started(helper) as process, suppress(Empty, OSError, EOFError):
            starting.add(process)
            assert process.stdin is not None
            assert process.stdout is not None
            send_frame(process.stdin, start)
            receive_frame(process.stdout)
            starting.discard(process)
            while True:
                key = waiting.get_nowait()
                send_frame(process.stdin, job(key))
                if answer := receive_frame(process.stdout):
                    answers[key] = answer

    with ThreadPoolExecutor(count - 1) as threads:
        for _ in range(count - 1):
            threads.submit(serve)
        with suppress(Empty):
            while True:
                here(waiting.get_nowait())
        for process in list(starting):
            process.kill()
    return answers


def answer_jobs(prepare: Callable[[bytes], Callable[[bytes], bytes]]) -> None:
    """Answer each job that comes on stdin, until stdin ends.

    `prepare` gets the first message and returns the function that answers; its RuntimeError means
    failure.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # compilers chat on stdout
    answer = prepare(receive_frame(sys.stdin.buffer))
    send_frame(answers, b"")
    while True:
        try:
            job = receive_frame(sys.stdin.buffer)
        except EOFError:
            return
        try:
            send_frame(answers, answer(job))
        except RuntimeError:
            send_frame(answers, b"")


def _started(helper: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", helper],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment_of_helpers(),
    )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
