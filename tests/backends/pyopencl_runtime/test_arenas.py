"""Planned programs: their arenas, the caller's, shared ones; parts of the caller's own buffers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array as cla
import pytest

import clopt
from clopt import CloptError
from clopt.backends.pyopencl_runtime import Executable, arena_lock, find_device
from clopt.backends.pyopencl_runtime.memory import BufferMemory
from clopt.weights import Weights
from support.cl.programs import parse, twice

KERNELS = """
kernel void add(global const float *a, global const float *b, global float *c) {
  int i = get_global_id(0);
  c[i] = a[i] + b[i];
}
kernel void twice(global const float *a, global float *b) {
  int i = get_global_id(0);
  b[i] = 2 * a[i];
}
"""

DECLARED = """
cl.kernel @add(memref<64xf32>, memref<64xf32>, memref<64xf32>) outputs [2] global [64] local [8]
cl.kernel @twice(memref<64xf32>, memref<64xf32>) outputs [1] global [64] local [8] in_place [[0, 1]]
"""

# y = 4 * (x + w); the second launch works in place.
ARENA = """
cl.program @main(%x: memref<64xf32> {{cl.name = "x"}}, %y: memref<64xf32> {{cl.name = "y"}})
    inputs 1 {{
  %arena = cl.arena : memref<{size}xi8>
  %w = cl.constant "{key}" : memref<64xf32>
  %t = cl.buffer_view %arena[{offset}] : memref<8x8xf32>
  %u = cl.buffer_view %arena[{offset}] : memref<64xf32>
  %v = cl.view %t : memref<8x8xf32> to memref<64xf32>
  cl.enqueue_kernel @add(%x, %w, %v) : memref<64xf32>, memref<64xf32>, memref<64xf32>
  cl.enqueue_kernel @twice(%v, %u) : memref<64xf32>, memref<64xf32>
  cl.enqueue_kernel @twice(%u, %y) : memref<64xf32>, memref<64xf32>
  cl.return
}}
"""

# y = (2 * x[:64], x[:64] + x[64:]): parts of the caller's buffers, written, read and copied.
PARTS = """
cl.program @main(%x: memref<128xf32> {cl.name = "x"}, %y: memref<128xf32> {cl.name = "y"})
    inputs 1 {
  %first = cl.arena : memref<512xi8>
  %second = cl.arena : memref<256xi8>
  %both = cl.buffer_view %first[0] : memref<128xf32>
  %part = cl.view %both[256] : memref<128xf32> to memref<64xf32>
  %copy = cl.buffer_view %second[0] : memref<64xf32>
  %x0 = cl.view %x[0] : memref<128xf32> to memref<64xf32>
  %x1 = cl.view %x[256] : memref<128xf32> to memref<64xf32>
  %y0 = cl.view %y[0] : memref<128xf32> to memref<64xf32>
  %y1 = cl.view %y[256] : memref<128xf32> to memref<64xf32>
  cl.enqueue_copy %x1, %part : memref<64xf32>
  cl.enqueue_copy %part, %copy : memref<64xf32>
  cl.enqueue_kernel @twice(%x0, %y0) : memref<64xf32>, memref<64xf32>
  cl.enqueue_kernel @add(%x0, %copy, %y1) : memref<64xf32>, memref<64xf32>, memref<64xf32>
  cl.return
}
"""

# y = 4 * x, with the body of its kernel.
DOUBLED = """
cl.program @main(%x: memref<4xf32> {cl.name = "x"}, %y: memref<4xf32> {cl.name = "y"}) inputs 1 {
  %arena = cl.arena : memref<16xi8>
  %t = cl.buffer_view %arena[0] : memref<4xf32>
  cl.enqueue_kernel @twice(%x, %t) : memref<4xf32>, memref<4xf32>
  cl.enqueue_kernel @twice(%t, %y) : memref<4xf32>, memref<4xf32>
  cl.return
}
"""

X = np.arange(64, dtype=np.float32)
X2 = np.arange(128, dtype=np.float32)
Y2 = np.concatenate([2 * X2[:64], X2[:64] + X2[64:]])


@pytest.fixture
def context(device: str) -> cl.Context:
    return cl.Context([find_device(device).handle])


def planned(w: float, offset: int = 256, **options: object) -> Executable:
    """The program y = 4 * (x + w) with its intermediate result at a byte of its arena."""
    weights = Weights()
    key = weights.add(np.full(64, w, np.float32), "w")
    module = parse(DECLARED + ARENA.format(key=key, offset=offset, size=offset + 256))
    return Executable(module, weights, source=KERNELS, use_cache=False, **options)  # type: ignore[arg-type]


def in_parts(**options: object) -> Executable:
    """The program over parts of x and y."""
    module = parse(DECLARED + PARTS)
    return Executable(module, Weights(), source=KERNELS, use_cache=False, **options)  # type: ignore[arg-type]


def buffer(context: cl.Context, size: int) -> cl.Buffer:
    return cl.Buffer(context, cl.mem_flags.READ_WRITE, size)


def test_an_arena_of_its_own(device: str) -> None:
    program = planned(1, device=device)
    for x in (X, -X):
        np.testing.assert_array_equal(program.run([x])[0], 4 * (x + 1))
    assert program.arena_bytes == (512,)
    assert [arena.size for arena in program.arena] == [512]
    assert program.device_bytes == 512 + 256
    assert program.image_views == {}


def test_the_callers_arena(context: cl.Context) -> None:
    """Larger than needed, or a part of a buffer; the bytes around it stay."""
    whole = buffer(context, 4096)
    queue = cl.CommandQueue(context)
    cl.enqueue_fill_buffer(queue, whole, np.float32(7), 0, 4096)
    program = planned(1, queue=queue, arena=[whole.get_sub_region(1024, 1024), whole])
    np.testing.assert_array_equal(program.run([X])[0], 4 * (X + 1))
    found = np.empty(1024, np.float32)
    cl.enqueue_copy(queue, found, whole)
    changed = (1024 + 256) // 4
    np.testing.assert_array_equal(found[changed : changed + 64], 2 * (X + 1))
    assert np.all(np.delete(found, np.arange(changed, changed + 64)) == 7)


def test_an_array_of_pyopencl_is_an_arena(context: cl.Context) -> None:
    """It takes the bytes from its offset on, and no others."""
    queue = cl.CommandQueue(context)
    rows: Any = cla.zeros(queue, (3, 4096), np.uint8)
    program = planned(1, queue=queue, arena=[rows[1]])
    np.testing.assert_array_equal(program.run([X])[0], 4 * (X + 1))
    used = rows.get(queue)
    assert used[1].any()
    assert not used[[0, 2]].any()


def test_two_models_on_one_queue_and_one_arena(context: cl.Context) -> None:
    queue = cl.CommandQueue(context)
    first = planned(1, queue=queue)
    second = planned(2, queue=queue, arena=first.arena)
    x = cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=X)
    results = [buffer(context, 256) for _ in range(6)]
    for i, y in enumerate(results):
        (first, second)[i % 2].enqueue(queue, {"x": x, "y": y})
    for i, y in enumerate(results):
        found = np.empty_like(X)
        cl.enqueue_copy(queue, found, y)
        np.testing.assert_array_equal(found, 4 * (X + 1 + i % 2))


def test_waiting_too_long_for_an_arena_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena_lock, "MOST_WAIT", 0.01)
    first, second, both = (
        arena_lock.ArenaLock([1]),
        arena_lock.ArenaLock([2]),
        arena_lock.ArenaLock([2, 1]),
    )
    with second:
        with pytest.raises(CloptError, match="Another thread has used the arena of this model"):
            both.__enter__()
        with first:  # which `both` had and gave back
            pass
    with both:
        pass


def test_threads_with_models_that_share_an_arena_take_turns(context: cl.Context) -> None:
    queue = cl.CommandQueue(context)
    first = planned(1, queue=queue)
    models = [first, *(planned(w, queue=queue, arena=first.arena) for w in (2, 3))]

    def check(i: int) -> bool:
        model = i % len(models)
        return bool(np.array_equal(models[model].run([X + i])[0], 4 * (X + i + 1 + model)))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(check, range(150)))


def test_arenas_that_do_not_do(context: cl.Context, device: str) -> None:
    with pytest.raises(CloptError, match="arena has 500 bytes, but the model needs 512"):
        planned(1, context=context, arena=[buffer(context, 500)])
    other = cl.Context([find_device(device).handle])
    with pytest.raises(CloptError, match="arena belongs to another context than the program"):
        planned(1, context=context, arena=[buffer(other, 512)])
    with pytest.raises(
        CloptError, match=r"needs a buffer or image of 10,000,000,000,256 bytes, but"
    ):
        planned(1, 10**13, context=context)
    with pytest.raises(CloptError, match="needs 2 arenas, of 512 and 256 bytes, but 1 were given"):
        in_parts(context=context, arena=[buffer(context, 512)])
    with pytest.raises(CloptError, match="needs 2 arenas, but one buffer was given twice"):
        in_parts(context=context, arena=2 * [buffer(context, 512)])


def test_parts_of_what_the_caller_binds(context: cl.Context) -> None:
    """OpenCL has no part of a part, and the caller's buffers may be parts."""
    queue = cl.CommandQueue(context)
    program = in_parts(queue=queue)
    assert program.arena_bytes == (512, 256)
    np.testing.assert_array_equal(program.run([X2])[0], Y2)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    whole = cl.Buffer(context, flags, hostbuf=np.concatenate([X, X2, np.zeros(256, np.float32)]))
    for y_offset in (1024, 768):
        x, y = whole.get_sub_region(256, 512), whole.get_sub_region(y_offset, 512)
        program.enqueue(queue, {"x": x, "y": y})
        found = np.empty_like(X2)
        cl.enqueue_copy(queue, found, y)
        np.testing.assert_array_equal(found, Y2)
    np.testing.assert_array_equal(program.run([-X2])[0], -Y2)


def test_an_inference_makes_no_parts(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = in_parts(device=device)
    program.run([X2])

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a part was made, or an argument set")

    monkeypatch.setattr(cl.Buffer, "get_sub_region", refuse)
    monkeypatch.setattr(cl.Kernel, "set_arg", refuse)
    np.testing.assert_array_equal(program.run([X2])[0], Y2)


def test_parts_are_released_before_those_around_them() -> None:
    """NVIDIA's driver crashes otherwise."""
    released: list[int] = []

    class Part:
        def __init__(self, offset: int) -> None:
            self.offset = offset

        def __del__(self) -> None:
            released.append(self.offset)

    memory = BufferMemory.__new__(BufferMemory)
    memory.__dict__.update(_views={}, _parts={offset: Part(offset) for offset in (256, 768, 512)})
    del memory
    assert released == [768, 512, 256]


def test_a_part_at_a_byte_that_the_device_does_not_take(device: str) -> None:
    """PoCL and Intel refuse it; NVIDIA's driver does not."""
    facts = '{cl.target = #cl.target<"small", {image_base_alignment_bytes = 4 : i64}>}'
    body = DECLARED + PARTS.replace("%x[0]", "%x[4]")
    module = parse(f"builtin.module attributes {facts} {{{body}}}")
    program = Executable(module, Weights(), device, source=KERNELS, use_cache=False)
    if "NVIDIA" in program.device.platform:
        np.testing.assert_array_equal(program.run([X2])[0][:64], 2 * X2[1:65])
        return
    sentence = r"cannot start a sub-buffer at byte 4, only at multiples of \d+; compile the model"
    with pytest.raises(CloptError, match=sentence):
        program.run([X2])


def test_saved_models_take_an_arena(context: cl.Context, tmp_path: Path) -> None:
    queue = cl.CommandQueue(context)
    model = clopt.compile(parse(twice(4) + DOUBLED), device=clopt.Place(queue=queue))
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(model.run([x])[0], 4 * x)
    model.save(tmp_path / "saved")
    place = clopt.Place(queue=queue, arena=model.executable.arena)
    loaded = clopt.load(tmp_path / "saved", place)
    assert loaded.executable.arena == model.executable.arena
    for _ in range(2):
        np.testing.assert_array_equal(loaded.run([x])[0], 4 * x)
    with pytest.raises(CloptError, match="arena has 8 bytes, but the model needs 16"):
        clopt.load(tmp_path / "saved", clopt.Place(queue=queue, arena=[buffer(context, 8)]))
