"""Queue programs on every OpenCL device: results, the caller's own objects, mistakes, leaks."""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array as cla
import pytest

from clopt import CloptError
from clopt.backends.pyopencl_runtime import Executable
from clopt.backends.pyopencl_runtime.bindings import bound_memory
from clopt.tensor_info import TensorInfo
from clopt.weights import Weights
from support.cl.programs import WEIGHT, Doubler, check_no_wait, parse

X = np.array([1, -1, 0.5, 8], np.float32)
Y = 2 * (X + WEIGHT)


def test_inputs_by_name_and_in_order(doubler: Doubler) -> None:
    executable = doubler.executable()
    for inputs in ([X], (X,), {"x": X}):
        (y,) = executable.run(inputs)
        np.testing.assert_array_equal(y, Y)


def test_strided_inputs(doubler: Doubler) -> None:
    (y,) = doubler.executable().run([np.repeat(X, 2)[::2]])
    np.testing.assert_array_equal(y, Y)


def test_results_are_new_arrays(doubler: Doubler) -> None:
    executable = doubler.executable()
    (first,) = executable.run([X])
    executable.run([X + 1])
    np.testing.assert_array_equal(first, Y)


def test_callers_queue_and_buffers(doubler: Doubler) -> None:
    context = cl.Context([doubler.device.handle])
    queue = cl.CommandQueue(context)
    executable = doubler.executable(context=context)
    flags = cl.mem_flags
    x = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=X)
    buffers = [cl.Buffer(context, flags.READ_WRITE, 16) for _ in range(2)]
    for y in buffers:  # the second time only y is bound anew
        executable.enqueue(queue, {"x": x, "y": y})
    for y in buffers:
        result = np.empty_like(X)
        cl.enqueue_copy(queue, result, y)
        np.testing.assert_array_equal(result, Y)
    (y,) = executable.run([X + 1])
    np.testing.assert_array_equal(y, Y + 2)


def test_arrays_of_pyopencl(doubler: Doubler) -> None:
    """Each with its offset, also where that changes from one inference to the next."""
    context = cl.Context([doubler.device.handle])
    queue = cl.CommandQueue(context)
    executable = doubler.executable(context=context)
    rows: Any = cla.to_device(queue, np.zeros((3, 1024), np.float32))
    parts: list[Any] = [rows[i, :4] for i in range(3)]
    x, first, second = parts
    x.set(X, queue)
    for y in (first, second):
        executable.enqueue(queue, {"x": x, "y": y})
        np.testing.assert_array_equal(y.get(queue), Y)
    with pytest.raises(CloptError, match='The array for "x" is not contiguous; copy it'):
        executable.enqueue(queue, {"x": rows[0, :8:2], "y": first})


def test_an_output_has_bytes_of_its_own(doubler: Doubler) -> None:
    context = cl.Context([doubler.device.handle])
    queue = cl.CommandQueue(context)
    executable = doubler.executable(context=context)
    both = cl.Buffer(context, cl.mem_flags.READ_WRITE, 8192)
    part, rest = both.get_sub_region(0, 16), both.get_sub_region(4096, 16)
    for x, y in ((both, both), (part, both), (both, part)):
        with pytest.raises(CloptError, match='The output "y" shares its memory with "x"'):
            executable.enqueue(queue, {"x": x, "y": y})
    cl.enqueue_copy(queue, both, X)
    executable.enqueue(queue, {"x": part, "y": rest})
    result = np.empty_like(X)
    cl.enqueue_copy(queue, result, rest)
    np.testing.assert_array_equal(result, Y)


@pytest.mark.parametrize("overwritten", [{}, {1: 0}])
def test_parts_of_a_buffer_overlap_where_they_start_apart(
    doubler: Doubler, overwritten: dict[int, int]
) -> None:
    context = cl.Context([doubler.device.handle])
    whole = cl.Buffer(context, cl.mem_flags.READ_WRITE, 8192)
    ports = [TensorInfo(name, (512,), np.dtype("f4")) for name in "xy"]
    low, middle, high = (whole.get_sub_region(start, 2048) for start in (0, 1024, 2048))
    for given in ((low, middle), (middle, low)):
        with pytest.raises(CloptError, match='The output "y" shares its memory with "x"'):
            bound_memory(ports, [2048] * 2, 1, given, context, overwritten)
    assert bound_memory(ports, [2048] * 2, 1, (low, high), context, {}) == (low, high)
    assert bound_memory(ports, [2048] * 2, 2, (low, middle), context, {}) == (low, middle)
    assert bound_memory(ports, [2048] * 2, 1, (low, low), context, {1: 0}) == (low, low)


def test_a_read_only_buffer_is_no_output(doubler: Doubler) -> None:
    context = cl.Context([doubler.device.handle])
    executable = doubler.executable(context=context)
    x, y = (cl.Buffer(context, cl.mem_flags.READ_ONLY, 16) for _ in range(2))
    with pytest.raises(CloptError, match='Kernels cannot write the read-only buffer for "y"'):
        executable.enqueue(cl.CommandQueue(context), {"x": x, "y": y})


def test_enqueue_does_not_wait(doubler: Doubler) -> None:
    context = cl.Context([doubler.device.handle])
    queue = cl.CommandQueue(context)
    check_no_wait(doubler.executable(context=context), queue)


def test_runs_on_the_callers_queue(doubler: Doubler) -> None:
    context = cl.Context([doubler.device.handle])  # Intel's queues do not keep it alive
    queue = cl.CommandQueue(context)
    executable = doubler.executable(queue=queue)
    assert executable.queue is queue
    assert executable.device == doubler.device
    np.testing.assert_array_equal(executable.run([X])[0], Y)


def test_threads_take_turns(doubler: Doubler) -> None:
    executable = doubler.executable()

    def check(i: int) -> bool:
        return bool(np.array_equal(executable.run([X + i])[0], Y + 2 * i))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(check, range(200)))


def test_a_thousand_runs_keep_the_memory(doubler: Doubler) -> None:
    executable = doubler.executable()
    for _ in range(100):
        executable.run([X])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(1000):
        executable.run([X])
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 2048


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ([], 'The model has 1 inputs ("x"), but 0 were given.'),
        ({}, 'The input "x" is missing; pass "x".'),
        ({"x": X, "z": X}, 'The model has no input called "z"; it has "x".'),
        (
            [X.astype(np.float64)],
            'The array for "x" has the type float64, but the model has float32',
        ),
        (
            [X.reshape(2, 2)],
            'The array for "x" has the shape 2x2, but the model was compiled for 4.',
        ),
    ],
)
def test_wrong_inputs(doubler: Doubler, inputs: object, sentence: str) -> None:
    with pytest.raises(CloptError) as error:
        doubler.executable().run(inputs)  # type: ignore[arg-type]
    assert str(error.value).startswith(sentence)


def test_wrong_buffers(doubler: Doubler) -> None:
    executable = doubler.executable()
    small = cl.Buffer(executable.context, cl.mem_flags.READ_WRITE, 8)
    large = cl.Buffer(executable.context, cl.mem_flags.READ_WRITE, 16)
    with pytest.raises(CloptError, match='The buffer for "y" has 8 bytes, but needs 16'):
        executable.enqueue(executable.queue, {"x": large, "y": small})
    with pytest.raises(CloptError, match='The input or output "y" is missing'):
        executable.enqueue(executable.queue, {"x": large})
    context = cl.Context([doubler.device.handle])
    foreign = cl.CommandQueue(context)
    with pytest.raises(CloptError, match="another context"):
        executable.enqueue(foreign, {"x": large, "y": large})
    if doubler.device.handle.queue_properties & _OUT_OF_ORDER:
        queue = cl.CommandQueue(executable.context, properties=_OUT_OF_ORDER)
        with pytest.raises(CloptError, match="in-order"):
            executable.enqueue(queue, {"x": large, "y": large})


def test_enqueue_checks_arrays_as_run_does(doubler: Doubler) -> None:
    executable = doubler.executable()
    queue = executable.queue
    x, y = cla.to_device(queue, X), cla.to_device(queue, Y)

    def refused(x: object, y: object) -> str:
        with pytest.raises(CloptError) as error:
            executable.enqueue(queue, {"x": x, "y": y})  # type: ignore[dict-item]
        return str(error.value)

    assert refused(x.view(np.int32), y).startswith('The array for "x" has the type int32, but ')
    assert refused(x, y.reshape(2, 2)).startswith('The array for "y" has the shape 2x2, but the')
    needs = "needs a pyopencl.Buffer or pyopencl.array.Array, not"
    assert refused(None, y) == f'"x" {needs} NoneType; to pass numpy arrays, call run.'
    assert refused(x, Y) == f'"y" {needs} numpy.ndarray; to pass numpy arrays, call run.'


class OfAnotherLibrary:
    """An array that other libraries read by DLPack alone."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class WithGradient(OfAnotherLibrary):
    """An array that refuses, as a tensor of torch does that requires a gradient."""

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise RuntimeError("Use tensor.detach().numpy() instead.")


def test_arrays_of_other_libraries(doubler: Doubler) -> None:
    executable = doubler.executable()
    result = executable.run([OfAnotherLibrary(X)])[0]  # type: ignore[list-item]
    np.testing.assert_array_equal(result, Y)
    with pytest.raises(CloptError, match=r'"x" is a .*WithGradient, .* Use tensor.detach\(\)'):
        executable.run([WithGradient(X)])  # type: ignore[list-item]


_OUT_OF_ORDER = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE


def test_refused_source_is_our_bug(doubler: Doubler) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)bug of clopt.*no_such_name"):
        doubler.executable(source="kernel void add() { no_such_name(); }")


def test_modules_that_cannot_run(device: str) -> None:
    with pytest.raises(CloptError, match=r"has one cl\.program, but this has 0"):
        Executable(parse("builtin.module {}"), Weights(), device, source="")
    size = 2**50
    huge = parse(
        f"cl.program @main(%y: memref<1xi8>) inputs 0 {{ %t = cl.alloc : memref<{size}xi8>\n"
        '%c = cl.constant "w" : memref<1xi8>\n cl.enqueue_copy %c, %y : memref<1xi8>\ncl.return }'
    )
    with pytest.raises(CloptError, match=f"of {size:,} bytes, but"):
        Executable(huge, Weights(), device, source="kernel void k() {}")


def test_a_weight_of_another_model(doubler: Doubler) -> None:
    with pytest.raises(CloptError, match="is not in the store of 0 weights"):
        Executable(doubler.module, Weights(), doubler.device, source=_SOURCE)


_SOURCE = "kernel void add(global const float *a, global const float *b, global float *c) {}"


def test_empty_tensors_and_every_type(device: str) -> None:
    types = ["i1", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64", "f16", "f32", "f64"]
    for shape in ((), (0, 3), (2, 3)):
        dims = "".join(f"{d}x" for d in shape)
        inputs = [f"%x{t}: memref<{dims}{t.strip('u')}> {{cl.element_type = {t}}}" for t in types]
        outputs = [text.replace("%x", "%y") for text in inputs]
        copies = [f"cl.enqueue_copy %x{t}, %y{t} : memref<{dims}{t.strip('u')}>" for t in types]
        module = parse(
            f"cl.program @main({', '.join(inputs + outputs)}) inputs {len(types)} {{\n"
            + "\n".join([*copies, "cl.return"])
            + "}"
        )
        executable = Executable(module, Weights(), device, source="kernel void k() {}")
        random = np.random.default_rng(0)
        arrays = [
            random.integers(0, 2, shape).astype(np.dtype(_NUMPY.get(t, t)))
            for t in (t.replace("ui", "uint").replace("f", "float") for t in types)
        ]
        for array, result in zip(arrays, executable.run(arrays), strict=True):
            assert result.dtype == array.dtype
            np.testing.assert_array_equal(result, array)


_NUMPY = {"i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64"}


def test_an_empty_range_is_not_launched(device: str) -> None:
    module = parse(
        "cl.kernel @fill(memref<0xf32>) outputs [0] global [0] local [1]\n"
        "cl.program @main(%y: memref<0xf32>) inputs 0 {\n"
        "cl.enqueue_kernel @fill(%y) : memref<0xf32>\ncl.return }"
    )
    source = "kernel void fill(global float *y) { y[get_global_id(0)] = 1; }"
    (y,) = Executable(module, Weights(), device, source=source).run([])
    assert y.shape == (0,)
