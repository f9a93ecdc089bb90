"""The cores of the threads that a runtime starts."""

from __future__ import annotations

import os
import sys
from threading import Event, Thread

import pytest

from clopt.backends.pyopencl_runtime.devices import POCL_AFFINITY
from clopt.backends.pyopencl_runtime.pinning import pin_to_cores, running_threads
from support.processes import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems place threads")

LIMIT = 60.0
LISTED = """
import os
from clopt.backends.pyopencl_runtime import list_devices
from clopt.backends.pyopencl_runtime.devices import POCL
units = [each.compute_units for each in list_devices() if each.platform == POCL]
cores = [os.sched_getaffinity(int(thread)) for thread in os.listdir("/proc/self/task")]
print(*units, "|", sum(each != os.sched_getaffinity(0) for each in cores))
"""
"""Prints the compute units of PoCL, and how many threads may not run on all cores."""


def cores_of_threads(count: int) -> list[set[int]]:
    """Start threads and pin them if possible; return the cores on which each may run then."""
    end, threads, earlier = Event(), [], running_threads()
    try:
        for _ in range(count):
            thread = Thread(target=end.wait, args=(LIMIT,))
            thread.start()
            threads.append(thread)
        pin_to_cores(running_threads() - earlier)
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


def test_more_threads_than_cores_may_move() -> None:
    cores = os.sched_getaffinity(0)
    assert all(each == cores for each in cores_of_threads(len(cores) + 1))


@pytest.mark.parametrize(("variables", "are_pinned"), [({}, True), ({POCL_AFFINITY: "0"}, False)])
def test_each_thread_of_pocl_has_a_core(variables: dict[str, str], are_pinned: bool) -> None:
    """The user's own setting holds."""
    ours = {name: text for name, text in os.environ.items() if name != POCL_AFFINITY}
    command = [sys.executable, "-c", LISTED]
    done = run(command, env=ours | variables, capture_output=True, text=True, check=True)
    units, _, pinned = done.stdout.partition("|")
    if not units.strip():
        pytest.skip("PoCL is not installed here; ./tests/run.sh installs it as root")
    cores = len(os.sched_getaffinity(0))
    assert int(units) == cores
    assert int(pinned) == (cores if are_pinned and cores > 1 else 0)
