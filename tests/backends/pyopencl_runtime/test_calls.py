"""Calls of functions on the host: fences, errors, and their form as plain data."""

from __future__ import annotations

import json

import numpy as np
import pyopencl as cl
import pytest

from clopt.backends.launches import FunctionArgument, FunctionCall, Launches, MemoryRange
from clopt.backends.pyopencl_runtime.commands import Call, HostArray
from clopt.backends.pyopencl_runtime.devices import find_device
from clopt.dialects.crossings import Fence
from clopt.errors import CloptError


@pytest.fixture
def context(device: str) -> cl.Context:
    return cl.Context([find_device(device).handle])


# With a context of its own: Intel's runtime releases one before its queues.
@pytest.fixture
def queue(context: cl.Context) -> cl.CommandQueue:
    return cl.CommandQueue(context)


def test_the_host_waits_before_a_call_with_the_fence_finish() -> None:
    order: list[str] = []

    class Queue:
        def finish(self) -> None:
            order.append("finish")

    def function(*arguments: object) -> None:
        order.append("call")

    for fence in (Fence.QUEUE, Fence.FINISH):
        Call(function, "f", "", (), (), fence).put(Queue(), ())  # pyright: ignore[reportArgumentType]
    assert order == ["call", "finish", "call"]


def test_arrays_in_the_memory_of_the_host(queue: cl.CommandQueue) -> None:
    """A buffer may be longer than its array, and what the function writes reaches the buffer."""
    x = np.arange(8, dtype=np.float32)
    source = cl.Buffer(queue.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
    result = cl.Buffer(queue.context, 0, x.nbytes)
    cl.enqueue_copy(queue, result, -x)

    def function(_: object, arrays: list[np.ndarray], scalars: tuple[float]) -> None:
        first, second = arrays
        second[:] = first * scalars[0]

    dtype = np.dtype("float32")
    arguments = (HostArray(0, (2, 3), dtype, False), HostArray(result, (2, 3), dtype, True))
    Call(function, "f", "", arguments, (0.5,), Fence.FINISH).put(queue, [source])
    y = np.empty_like(x)
    cl.enqueue_copy(queue, y, result)
    np.testing.assert_array_equal(y, [*(x[:6] / 2), *-x[6:]])


def test_errors_name_the_function_and_the_node(queue: cl.CommandQueue) -> None:
    def failing(*_: object) -> None:
        raise ValueError("no such size")

    with pytest.raises(CloptError, match="The function f of the node h failed: no such size"):
        Call(failing, "f", "h", (), ()).put(queue, ())

    def without_events(*_: object, wait_for: list[cl.Event]) -> None:
        assert len(wait_for) == 1

    with pytest.raises(CloptError, match="f failed: its fence is EVENTS, so it must return"):
        Call(without_events, "f", "", (), (), Fence.EVENTS).put(queue, ())


def test_calls_as_json() -> None:
    arguments = (
        FunctionArgument(MemoryRange(0, 4, 8)),
        FunctionArgument(None, "w_1"),
        FunctionArgument(MemoryRange(1, 0, 8), "", "float16", (2, 2), True),
    )
    call = FunctionCall("toy", "gemm", "h", "finish", arguments, (1, 0.5))
    launches = Launches((), (), (), (), (), (), (call,))
    assert Launches.from_json(json.loads(json.dumps(launches.as_json()))) == launches
