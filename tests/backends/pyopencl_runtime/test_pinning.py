"""The cores of the threads that a runtime starts."""

from __future__ import annotations

import os
import sys
from threading import Event, Thread

import pytest

from clopt.backends.pyopencl_runtime.pinning import on_separate_cores
from support.processes import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems place threads")

LIMIT = 60.0


LISTED = """
import os
from clopt.backends.pyopencl_runtime import list_devices
from clopt.backends.pyopencl_runtime.devices import POCL
units = [each.compute_units for each in list_devices() if each.platform == POCL]
print(*units, "|", *(len(os.sched_getaffinity(int(tid))) for tid in os.listdir("/proc/self/task")))
"""


def cores_of_threads(count: int) -> list[set[int]]:
    """Start threads within the context; return the cores on which each may run after it."""
    end, threads = Event(), []
    try:
        with on_separate_cores():
            for _ in range(count):
                thread = Thread(target=end.wait, args=(LIMIT,))
                thread.start()
                threads.append(thread)
        return [os.sched_getaffinity(thread.native_id) for thread in threads]
    finally:
        end.set()
        for thread in threads:
            thread.join(LIMIT)


def test_threads_have_the_cores_of_the_process_to_themselves() -> None:
    cores = os.sched_getaffinity(0)
    found = cores_of_threads(len(cores))
    assert [len(each) for each in found] == [1] * len(cores)
    assert set.union(*found) == cores
    assert os.sched_getaffinity(0) == cores


def test_fewer_threads_than_cores_may_move() -> None:
    cores = os.sched_getaffinity(0)
    assert all(each == cores for each in cores_of_threads(len(cores) + 1))


@pytest.mark.parametrize(("variables", "are_pinned"), [({}, True), ({"POCL_AFFINITY": "0"}, False)])
def test_each_thread_of_pocl_has_a_core(variables: dict[str, str], are_pinned: bool) -> None:
    """The user's own setting holds."""
    done = run(
        [sys.executable, "-c", LISTED], env=os.environ | variables, capture_output=True, text=True
    )
    units, _, threads = done.stdout.partition("|")
    if not units.strip():
        pytest.skip("needs PoCL, which Debian packages")
    cores = len(os.sched_getaffinity(0))
    assert int(units) == cores > 1 or not are_pinned, "as many threads as cores"
    assert threads.split().count("1") == (cores if are_pinned else 0)
