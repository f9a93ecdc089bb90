"""What `run` exchanges with its caller: arrays in place or copied, outputs, device memory."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array as cla
import pytest

from clopt import CloptError
from clopt.backends.pyopencl_runtime import Executable, find_device
from support.cl.exchange import LARGE, SMALL, aligned, counted_copies, program


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each copy between the host and the device."""
    return counted_copies(monkeypatch)


def test_large_arrays_are_used_in_place(device: str, copies: list[int]) -> None:
    executable = program(LARGE, device)
    x = aligned(LARGE)
    for value in (1, 2):  # the second time the same array has other contents
        x[:] = value + np.arange(LARGE) % 7
        y, z = executable.run([x])
        np.testing.assert_array_equal(y, 2 * x)
        np.testing.assert_array_equal(z, 4 * x)
    assert copies == []
    x[:] = 0
    assert z[0] == 8, "a result stays"


def test_arrays_for_outputs_are_written_in_place(device: str, copies: list[int]) -> None:
    executable = program(LARGE, device)
    x, z = aligned(LARGE), aligned(LARGE)
    x[:] = np.arange(LARGE) % 9
    for factor in (1, 3):
        x *= factor
        (returned,) = executable.run({"x": x}, {"z": z})
        assert returned is z
        np.testing.assert_array_equal(z, 4 * x)
    assert copies == []


@pytest.mark.parametrize(("count", "shift"), [(SMALL, 0), (LARGE, 4)])
def test_small_and_unaligned_arrays_are_copied(
    device: str, count: int, shift: int, copies: list[int]
) -> None:
    executable = program(count, device)
    x, y = aligned(count, shift), aligned(count, shift)
    x[:] = np.arange(count) % 9
    executable.run([x], {"y": y})
    np.testing.assert_array_equal(y, 2 * x)
    assert copies == [4 * count] * 2


def test_models_are_chained_on_the_device(device: str, copies: list[int]) -> None:
    context = cl.Context([find_device(device).handle])
    queue = cl.CommandQueue(context)
    first, second = program(SMALL, queue=queue), program(SMALL, queue=queue)
    x = cla.to_device(queue, np.arange(SMALL, dtype=np.float32))
    between: Any = cla.empty(queue, (SMALL,), np.float32)
    result = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * SMALL)
    copies.clear()
    for _ in range(2):
        assert first.run([x], {"z": between})[0] is between
        second.run({"x": between}, {"y": result})
    assert copies == []
    got = np.empty(SMALL, np.float32)
    cl.enqueue_copy(queue, got, result)
    np.testing.assert_array_equal(got, 8 * np.arange(SMALL))


def test_an_array_of_another_queue_is_waited_for(device: str) -> None:
    context = cl.Context([find_device(device).handle])
    executable = program(SMALL, queue=cl.CommandQueue(context))
    other = cl.CommandQueue(context)
    x: Any = cla.zeros(other, (SMALL,), np.float32)
    gate = cl.UserEvent(context)
    cl.enqueue_barrier(other, wait_for=[gate])
    x.fill(np.float32(5), queue=other)
    opening = threading.Timer(0.2, gate.set_status, [cl.command_execution_status.COMPLETE])
    opening.start()
    (y,) = executable.run([x], ["y"])
    opening.join(10)
    np.testing.assert_array_equal(y, 10)


def test_outputs_by_name(device: str) -> None:
    executable = program(SMALL, device)
    x = np.ones(SMALL, np.float32)
    z, y, again = executable.run([x], ["z", "y", "z"])
    assert (z[0], y[0]) == (4, 2)
    assert again is z
    assert executable.run([x], []) == executable.run([x], {}) == []


def test_commands_have_ended_when_run_fails(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels would write to memory that the caller has back."""
    executable = program(LARGE, device)
    enqueue = executable._enqueue
    markers: list[cl.Event] = []

    def fail(queue: cl.CommandQueue, buffers: Any) -> None:
        enqueue(queue, buffers)
        markers.append(cl.enqueue_marker(queue))
        raise CloptError("No.")

    monkeypatch.setattr(executable, "_enqueue", fail)
    for _ in range(5):
        with pytest.raises(CloptError, match="No"):
            executable.run([aligned(LARGE)], {"z": aligned(LARGE)})
        done = markers.pop().command_execution_status
        assert done == cl.command_execution_status.COMPLETE


X = np.zeros(SMALL, np.float32)
REFUSED: dict[str, tuple[Callable[[Executable], Any], str]] = {
    "text": (lambda e: "y", r'a list of names \("y", "z"\), or a mapping of names to arrays.*str'),
    "number": (lambda e: 3, "The outputs must be a list of names .*, not int"),
    "array": (lambda e: X, "The outputs must be a list of names .*, not numpy.ndarray"),
    "input": (lambda e: ["x"], 'no output called "x"; it has "y", "z"'),
    "name": (lambda e: {"w": X}, 'no output called "w"; it has "y", "z"'),
    "list": (lambda e: {"y": [0.0] * SMALL}, "an array of numpy or pyopencl, .* not to list"),
    "type": (lambda e: {"y": X.astype("f8")}, "has the type float64, but the model has float32"),
    "shape": (lambda e: {"y": X[:4].copy()}, "has the shape 4, but the model"),
    "strides": (lambda e: {"y": np.zeros((SMALL, 2), "f4")[:, 0]}, '"y" is not contiguous; pass'),
    "read-only": (
        lambda e: {"y": np.frombuffer(bytes(4 * SMALL), np.float32)},
        'for the output "y" is read-only; pass a writable one',
    ),
    "input's": (lambda e: {"y": X}, 'The output "y" shares its memory with "x"'),
    "shared": (lambda e: dict.fromkeys("yz", X + 1), 'output "z" shares its memory with "y"'),
    "small buffer": (
        lambda e: {"y": cl.Buffer(e.context, 1, 8)},
        'for "y" has 8 bytes, but needs 4096',
    ),
    "read-only buffer": (
        lambda e: {"y": cl.Buffer(e.context, cl.mem_flags.READ_ONLY, 4 * SMALL)},
        'Kernels cannot write the read-only buffer for "y"',
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_wrong_outputs(device: str, mistake: str) -> None:
    executable = program(SMALL, device)
    outputs, message = REFUSED[mistake]
    with pytest.raises(CloptError, match=message):
        executable.run([X], outputs(executable))


@pytest.mark.by_default(cases=0)  # torch is installed for the thorough tier
def test_a_tensor_that_requires_a_gradient_is_refused(device: str, torch: ModuleType) -> None:
    executable = program(SMALL, device)
    y = torch.zeros(SMALL, requires_grad=True)
    with pytest.raises(CloptError, match=r'"y" is a torch\.Tensor, which cannot become an array: '):
        executable.run([X], {"y": y})


def test_wrong_memory(device: str) -> None:
    executable = program(SMALL, device)
    elsewhere = cl.Context([executable.device.handle])
    queue = cl.CommandQueue(elsewhere)
    foreign: list[Any] = [
        cl.Buffer(elsewhere, cl.mem_flags.READ_WRITE, 4 * SMALL),
        cla.zeros(queue, (SMALL,), np.float32),
    ]
    other = r"belongs to another context .*, device=clopt.Place\(queue=queue\)"
    for memory in foreign:
        with pytest.raises(CloptError, match=f'The buffer for "x" {other}'):
            executable.run([memory])
        with pytest.raises(CloptError, match=f'The buffer for "y" {other}'):
            executable.run([X], {"y": memory})
    with pytest.raises(CloptError, match='The array for "x" has the type int32'):
        executable.run([cla.zeros(executable.queue, (SMALL,), np.int32)])
