"""Programs run by their C packages: the bits that `Executable` gives, on the caller's objects."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest

import clopt
from clopt import CloptError
from clopt.backends.pyopencl_runtime import CExecutable, Executable, find_device
from clopt.targets import load_target
from clopt.weights import Weights
from support.c import packaged_models
from support.cl.image_programs import aliases, blur, lowered
from support.cl.programs import KERNELS, PROGRAM, WEIGHT, Doubler, check_no_wait, parse
from support.processes import wait_until

ROOT = Path(__file__).parents[3]
DIGITS = str(ROOT / "examples" / "digits" / "digits.onnx")

X = np.array([1, -1, 0.5, 8], np.float32)
Y = 2 * (X + WEIGHT)


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache of libraries for all tests."""
    return tmp_path_factory.mktemp("libraries")


@pytest.fixture
def in_c(doubler: Doubler, libraries: Path) -> Callable[..., CExecutable]:
    """Makes the example program, run by C."""

    def make(**options: object) -> CExecutable:
        settings = {"source": KERNELS, "cache_folder": doubler.cache_folder, **options}
        settings.setdefault("library_folder", libraries)
        if "context" not in settings and "queue" not in settings:
            settings["device"] = doubler.device
        return CExecutable(doubler.module, doubler.weights, **settings)  # type: ignore[arg-type]

    return make


def check(model: clopt.CompiledModel, arrays: Sequence[np.ndarray], libraries: Path) -> CExecutable:
    """Both ways give the same bits, twice. Returns the results of C."""
    device = model.executable.device
    executable = CExecutable(model.module, model.weights, device, library_folder=libraries)
    for _ in range(2):
        for got, want in zip(executable.run(arrays), model.run(arrays), strict=True):
            assert got.dtype == want.dtype
            assert got.tobytes() == want.tobytes()
    return executable


@pytest.mark.parametrize("target", ["", "adreno-740 texture=prefer float_coordinates=false"])
def test_digits(target: str, device: str, libraries: Path) -> None:
    model = clopt.compile(DIGITS, target or None, {"batch": 2}, device)
    x = np.random.default_rng(0).standard_normal((2, 1, 8, 8)).astype(np.float32)
    executable = check(model, [x], libraries)
    assert executable.device_bytes >= sum(executable.arena_bytes) > 0
    assert set(executable.image_views) == set(model.executable.image_views)
    if not target:
        assert executable.arena_bytes == model.executable.arena_bytes
        assert executable.device_bytes == model.executable.device_bytes


SHAPE = (2, 5, 7, 4)
TARGET = load_target("adreno-740").with_facts({"texture": "prefer", "float_coordinates": False})


@pytest.mark.parametrize("kind", ["image2d", "image2d_array"])
def test_images(kind: str, device: str, libraries: Path) -> None:
    weights, random = Weights(), np.random.default_rng(1)
    text = blur(SHAPE, weights.add(random.random((2, 3, 3, 4), np.float32)), kind)
    model = clopt.compile(lowered(text, TARGET), device=device, weights=weights)
    check(model, [random.standard_normal(SHAPE).astype(np.float32)], libraries)


def test_an_image_over_the_bytes_of_a_buffer(device: str, libraries: Path) -> None:
    text = aliases(SHAPE, (7, 5, 2, 4), "", "image1d_buffer")
    text = text.replace("%t = cl.alloc", "%t = cl.buffer_view %arena[256]")
    text = text.replace("inputs 1 {", "inputs 1 {\n  %arena = cl.arena : memref<8192xi8>")
    model = clopt.compile(lowered(text, TARGET), device=device)
    x = np.random.default_rng(2).standard_normal(SHAPE).astype(np.float32)
    executable = check(model, [x], libraries)
    assert executable.image_views.keys() == model.executable.image_views.keys() != set()


_TYPES = {
    **{"i1": "bool", "i8": "int8", "ui8": "uint8", "i16": "int16", "ui16": "uint16"},
    **{"i32": "int32", "ui32": "uint32", "i64": "int64", "ui64": "uint64"},
    **{"f16": "float16", "f32": "float32", "f64": "float64"},
}


def test_every_type_and_empty_tensors(device: str, libraries: Path) -> None:
    ports: list[str] = []
    copies: list[str] = []
    arrays: list[np.ndarray] = []
    for shape in ((), (0, 3), (2, 3)):
        for name, dtype in _TYPES.items():
            dims = "".join(f"{d}x" for d in shape)
            number = len(arrays)
            type_ = f"memref<{dims}{name.strip('u')}>"
            ports.append(f"%{{}}{number}: {type_} {{{{cl.element_type = {name}}}}}")
            copies.append(f"cl.enqueue_copy %x{number}, %y{number} : {type_}")
            arrays.append(np.random.default_rng(number).integers(0, 2, shape).astype(dtype))
    parameters = ", ".join([p.format("x") for p in ports] + [p.format("y") for p in ports])
    body = "\n".join([*copies, "cl.return"])
    module = parse(f"cl.program @main({parameters}) inputs {len(ports)} {{\n{body}}}")
    executable = CExecutable(
        module, Weights(), device, source="kernel void k() {}", library_folder=libraries
    )
    for array, result in zip(arrays, executable.run(arrays), strict=True):
        assert result.dtype == array.dtype
        np.testing.assert_array_equal(result, array)


def test_callers_queues_and_buffers(doubler: Doubler, in_c: Callable[..., CExecutable]) -> None:
    context = cl.Context([doubler.device.handle])
    executable = in_c(context=context)
    flags = cl.mem_flags
    x = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=X)
    for _ in range(2):
        queue, y = cl.CommandQueue(context), cl.Buffer(context, flags.READ_WRITE, 16)
        executable.enqueue(queue, {"x": x, "y": y})
        result = np.empty_like(X)
        cl.enqueue_copy(queue, result, y)
        np.testing.assert_array_equal(result, Y)
        del queue, y  # C holds them while it needs them
    (y,) = executable.run([X + 1])
    np.testing.assert_array_equal(y, Y + 2)


def test_parts_of_the_callers_parts(device: str, libraries: Path) -> None:
    """The values of the program are parts of x and y, which are parts of one buffer."""
    model, handle = packaged_models.parts(), find_device(device).handle
    context = cl.Context([handle])
    queue = cl.CommandQueue(context)
    executable = CExecutable(model.module, model.weights, queue=queue, library_folder=libraries)
    numbers = np.arange(512, dtype=np.float32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    whole = cl.Buffer(context, flags, hostbuf=numbers)
    x, y = whole.get_sub_region(512, 512), whole.get_sub_region(1024, 512)
    executable.enqueue(queue, {"x": x, "y": y})
    found = np.empty_like(numbers)
    cl.enqueue_copy(queue, found, whole)
    expected = numbers.copy()
    expected[256:384] = [*8 * numbers[128:192], *2 * numbers[129:193]]
    np.testing.assert_array_equal(found, expected)


def test_enqueue_does_not_wait(doubler: Doubler, in_c: Callable[..., CExecutable]) -> None:
    context = cl.Context([doubler.device.handle])
    queue = cl.CommandQueue(context)
    executable = in_c(queue=queue)
    assert executable.queue is queue
    check_no_wait(executable, queue)


PLANNED = PROGRAM.replace(
    "%t = cl.alloc :", "%arena = cl.arena : memref<16xi8>\n  %t = cl.buffer_view %arena[0] :"
)


def test_one_arena_for_programs_run_both_ways(doubler: Doubler, libraries: Path) -> None:
    """They take turns. The buffer is larger than needed, and there is one more."""
    module = parse(PLANNED.format(key=doubler.weights.add(WEIGHT)))
    context = cl.Context([doubler.device.handle])
    queue = cl.CommandQueue(context)
    arena = [cl.Buffer(context, cl.mem_flags.READ_WRITE, 256) for _ in range(2)]
    settings = {"queue": queue, "source": KERNELS, "use_cache": False, "arena": arena}
    python = Executable(module, doubler.weights, **settings)  # type: ignore[arg-type]
    c = CExecutable(module, doubler.weights, library_folder=libraries, **settings)  # type: ignore[arg-type]
    assert c.arena == python.arena == (arena[0],)
    assert c.arena_bytes == (16,)
    assert c.device_bytes == 32
    wrong: list[np.ndarray] = []

    def use(executable: Executable | CExecutable) -> None:
        for i in range(100):
            (y,) = executable.run([X + i])
            if not np.array_equal(y, Y + 2 * i):
                wrong.append(y)

    threads = [threading.Thread(target=use, args=(e,)) for e in (python, c, c)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong
    settings["arena"] = [cl.Buffer(context, cl.mem_flags.READ_WRITE, 8)]
    with pytest.raises(CloptError, match="has 8 bytes, but the model needs 16"):
        CExecutable(module, doubler.weights, library_folder=libraries, **settings)  # type: ignore[arg-type]


def test_mistakes(doubler: Doubler, in_c: Callable[..., CExecutable]) -> None:
    executable = in_c()
    with pytest.raises(CloptError, match="but 0 were given"):
        executable.run([])
    small = cl.Buffer(executable.context, cl.mem_flags.READ_WRITE, 8)
    with pytest.raises(CloptError, match='The buffer for "x" has 8 bytes, but needs 16'):
        executable.enqueue(executable.queue, {"x": small, "y": small})
    elsewhere = cl.Context([doubler.device.handle])
    foreign, another = (cl.Buffer(elsewhere, cl.mem_flags.READ_WRITE, 16) for _ in range(2))
    with pytest.raises(CloptError, match='The buffer for "x" belongs to another context'):
        executable.enqueue(executable.queue, {"x": foreign, "y": another})
    np.testing.assert_array_equal(executable.run([X])[0], Y)
    with pytest.raises(RuntimeError, match=r"(?s)bug of clopt.*no_such_name"):
        in_c(source="kernel void add() { no_such_name(); }")
    with pytest.raises(CloptError, match=r"has one cl\.program, but this has 0"):
        CExecutable(parse("builtin.module {}"), Weights(), doubler.device, source="")


def test_built_kernels_come_from_the_cache(
    doubler: Doubler, in_c: Callable[..., CExecutable]
) -> None:
    assert not in_c().built_from_cache
    again = in_c()
    own = doubler.device.platform == "Portable Computing Language"  # it has a cache of its own
    assert again.built_from_cache != own
    np.testing.assert_array_equal(again.run([X])[0], Y)
    for entry in doubler.cache_folder.glob("*.bin"):
        entry.write_bytes(b"damaged")
    assert not in_c().built_from_cache


def test_models_go_when_nobody_has_them(in_c: Callable[..., CExecutable]) -> None:
    executable = in_c()
    buffer, other = (cl.Buffer(executable.context, cl.mem_flags.READ_WRITE, 16) for _ in range(2))
    before = _references(buffer)
    executable.enqueue(executable.queue, {"x": buffer, "y": other})
    executable.queue.finish()
    assert _references(buffer) > before
    del executable
    # PoCL's thread releases a command's buffers a moment after the command counts as complete.
    wait_until(lambda: _references(buffer) == before)


def _references(buffer: cl.Buffer) -> int:
    return buffer.get_info(cl.mem_info.REFERENCE_COUNT)
