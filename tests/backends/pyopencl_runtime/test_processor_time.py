"""Processor time counts all threads up to now."""

from __future__ import annotations

import hashlib
import statistics
import threading
import time

import pytest

from clopt.backends.pyopencl_runtime.processor_time import processor_seconds


@pytest.mark.skipif(
    not hasattr(time, "pthread_getcpuclockid"), reason="reads the clock of another thread"
)
def test_a_thread_that_is_running_counts_up_to_now() -> None:
    """To bring the other thread's clock up to date adds nothing."""
    started, stop = threading.Event(), threading.Event()

    def compute() -> None:
        started.set()
        while not stop.is_set():
            hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 2000)  # without Python's lock

    worker = threading.Thread(target=compute)
    worker.start()
    try:
        started.wait(10)
        assert worker.ident is not None
        clock = time.pthread_getcpuclockid(worker.ident)
        missed: list[float] = []
        for _ in range(30):
            time.sleep(0.003)  # less than a tick
            counted = processor_seconds()
            time.clock_gettime(clock)
            missed.append(time.process_time() - counted)
        assert statistics.median(missed) < 0.2e-3
    finally:
        stop.set()
        worker.join(10)
