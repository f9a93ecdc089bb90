"""Helper processes that share the work of compiling kernels with this process.

All messages are frames. A helper reads a start message from stdin, reports with an empty frame on
stdout that it is ready, then reads jobs and answers each of them. An empty answer means failure.
Jobs that no helper completed are left to the caller, who gets the error message by repeating them.
The same holds for a helper whose driver hangs, which is killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from threading import Lock, Timer

from ...files.frames import receive_frame, send_frame
from .environment import environment_of_helpers

# Starting a helper takes half a second, in which about this much source can be compiled.
_BYTES_PER_WORKER = 50_000

# Of source, on average: the eleven benchmark networks have 8,000 to 20,000.
_BYTES_PER_KERNEL = 10_000

_MOST_SECONDS = 120.0
"""Limit for a job, and for the start of a helper; compiling a kernel takes a few seconds at most.
"""
_PATIENCE = 5.0
"""Seconds within which an idle helper must exit by itself."""

_standing_by: dict[str, list[subprocess.Popen[bytes]]] = {}
_lock = Lock()


def share_work(
    sources: Mapping[str, str],
    helper: str,
    here: Callable[[str], object],
    job: Callable[[str], bytes],
    start: Callable[[], bytes] = bytes,
) -> dict[str, bytes]:
    """Return the answers of helpers for some of `sources`, by key.

    Meanwhile, `here` does the job of a key in this process. `helper` is the Python code of a
    helper, which calls `answer_jobs`; `job` returns the message for a key. `start` returns the
    message that precedes all jobs; it runs in this process while the helpers start. Small models
    get no helpers.
    """
    count = min(_cores(), sum(map(len, sources.values())) // _BYTES_PER_WORKER, len(sources))
    if count < 2:
        return {}
    waiting: SimpleQueue[str] = SimpleQueue()
    # Largest first, so that no worker starts a large source last.
    for key in sorted(sources, key=lambda key: -len(sources[key])):
        waiting.put(key)
    answers: dict[str, bytes] = {}
    message: Future[bytes] = Future()
    helpers: set[subprocess.Popen[bytes]] = set()
    starting: set[subprocess.Popen[bytes]] = set()

    def serve() -> None:
        with _started(helper) as process, suppress(Empty, OSError, EOFError, CancelledError):
            helpers.add(process)
            starting.add(process)
            _ask(process, message.result(_MOST_SECONDS))
            starting.discard(process)
            while True:
                key = waiting.get_nowait()
                if answer := _ask(process, job(key)):
                    answers[key] = answer

    def work_here() -> None:
        with suppress(Empty):
            while True:
                here(waiting.get_nowait())

    with ThreadPoolExecutor(count - 1) as threads:
        for _ in range(count - 1):
            threads.submit(serve)
        try:
            message.set_result(start())
            work_here()
        except BaseException:  # also for KeyboardInterrupt: helpers get no further jobs
            message.cancel()
            with suppress(Empty):
                while True:
                    waiting.get_nowait()
            starting |= helpers
            raise
        finally:
            for process in list(starting):
                process.kill()
    return answers


def stand_by(helper: str, kernels: int) -> None:
    """Start the helpers that will share the work of this many kernels, before there is any.

    `share_work` takes helpers that run the same Python; `dismiss` ends the others.
    """
    count = min(_cores(), kernels * _BYTES_PER_KERNEL // _BYTES_PER_WORKER)
    with _lock:
        waiting = _standing_by.setdefault(helper, [])
        waiting += [_start(helper) for _ in range(count - 1 - len(waiting))]


def dismiss(helper: str) -> None:
    """End the helpers that still stand by."""
    with _lock:
        processes = _standing_by.pop(helper, [])
    for process in processes:
        process.kill()
        _end(process)


def answer_jobs(prepare: Callable[[bytes], Callable[[bytes], bytes]]) -> None:
    """Answer each job that arrives on stdin, until stdin ends.

    `prepare` gets the first message and returns the function that answers jobs; a RuntimeError of
    that function means failure.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # compilers write to stdout
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


def _ask(process: subprocess.Popen[bytes], message: bytes) -> bytes:
    """Return a helper's answer; raise EOFError or OSError if it ends, or hangs and is killed."""
    assert process.stdin is not None
    assert process.stdout is not None
    limit = Timer(_MOST_SECONDS, process.kill)
    limit.daemon = True
    limit.start()
    try:
        send_frame(process.stdin, message)
        return receive_frame(process.stdout)
    finally:
        limit.cancel()


@contextmanager
def _started(helper: str) -> Generator[subprocess.Popen[bytes]]:
    with _lock:
        waiting = _standing_by.get(helper)
        process = waiting.pop() if waiting else None
    process = process or _start(helper)
    try:
        yield process
    finally:
        _end(process)


def _start(helper: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", helper],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment_of_helpers(),
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()  # which ends the helper
    try:
        process.wait(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        with suppress(subprocess.TimeoutExpired):  # a driver may never release the process
            process.wait(timeout=_PATIENCE)
    assert process.stdout is not None
    process.stdout.close()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
