"""Kernels are built one by one or together, here or in helper processes, with the same result."""

from __future__ import annotations

import time
from threading import Event

import numpy as np
import pyopencl as cl
import pytest
from xdsl.dialects.builtin import MemRefType, f32, i32

from clopt.backends.kernel_source import ROUNDING_OPTION, split_kernels
from clopt.backends.pyopencl_runtime import build, find_device, workers
from clopt.backends.pyopencl_runtime.build import build_kernels
from clopt.backends.pyopencl_runtime.cache import BinaryCache
from clopt.backends.pyopencl_runtime.compiler import build_options, from_binary
from clopt.backends.pyopencl_runtime.first_launch import compile_by_launching
from clopt.dialects.cl.kernels import Kernel

ONE = "// first\n__kernel void one(__global float *y) {\n    if (true) {\n    }\n}\n"
TWO = "// second\n__kernel void two(__global float *y) {\n    y[0] = 2;\n}\n"
PRAGMA = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
HELPER = "float three(float x) { return 3 * x; }\n"
SOURCE = f"{PRAGMA}\n{ONE}\n{TWO}"
SHARED = "// Thrice.\nstatic float thrice(const float x) {\n    return 3 * x;\n}\n"
THRICE = "__kernel void three(__global float *y) {\n    y[0] = thrice(y[1]);\n}\n"
OPTIONS = "-cl-std=CL1.2"


def test_a_source_splits_into_its_kernels() -> None:
    kernels = split_kernels(SOURCE)
    assert list(kernels) == ["one", "two"]
    for name, text in (("one", ONE), ("two", TWO)):
        assert kernels[name].startswith(PRAGMA)
        assert kernels[name].strip().endswith(text.strip())


def test_a_kernel_keeps_the_functions_that_it_calls() -> None:
    kernels = split_kernels(f"{PRAGMA}\n{SHARED}\n{ONE}\n{THRICE}")
    assert list(kernels) == ["one", "three"]
    assert "thrice" not in kernels["one"]
    assert kernels["three"].index(SHARED) < kernels["three"].index(THRICE)


def test_other_sources_stay_whole() -> None:
    assert split_kernels(HELPER + ONE + TWO) == {}
    assert split_kernels("") == {}


@pytest.mark.parametrize("source", [SOURCE, HELPER + SOURCE])
def test_every_kernel_gets_its_program(device: str, source: str) -> None:
    chosen = find_device(device)
    context = cl.Context([chosen.handle])
    built = build_kernels(context, chosen, source, ["one", "two"], BinaryCache(None))
    for name in ("one", "two"):
        assert cl.Kernel(built.programs[name], name).num_args == 1


@pytest.fixture
def helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers for any source."""
    monkeypatch.setattr(workers, "_BYTES_PER_WORKER", 1)
    monkeypatch.setattr(workers, "_cores", lambda: 2)


@pytest.mark.usefixtures("helpers")
def test_helpers_compile_what_this_process_leaves(device: str) -> None:
    chosen = find_device(device)
    sources = {**split_kernels(SOURCE), "wrong": "kernel void wrong() { unknown(); }"}
    done = Event()

    def wait_here(key: str) -> None:
        if key == "wrong":
            done.wait(60)

    def job(key: str) -> bytes:
        if key == "two":
            done.set()
        return sources[key].encode()

    sources["wrong"] += " " * 1000  # the longest is the first, and ours
    helper = build.compiling_helper(chosen)
    binaries = workers.share_work(sources, helper, wait_here, job, OPTIONS.encode)
    assert "two" in binaries
    context = cl.Context([chosen.handle])
    for name, binary in binaries.items():
        program = from_binary(context, chosen, binary, OPTIONS)
        assert program is not None
        assert cl.Kernel(program, name).num_args == 1


def test_small_sources_need_no_helpers() -> None:
    assert workers.share_work(split_kernels(SOURCE), "", pytest.fail, pytest.fail) == {}


def test_a_kernel_without_a_local_size_is_left_for_its_first_launch(device: str) -> None:
    chosen = find_device(device)
    context = cl.Context([chosen.handle])
    kernel = Kernel("two", (MemRefType(f32, [64]),), frozenset({0}), (64,), None)
    assert not compile_by_launching(context, chosen, SOURCE, OPTIONS, [kernel])[1]


@pytest.mark.parametrize("operation", ["%", "/ "])
def test_integers_that_may_divide_by_zero_are_left_for_the_first_launch(
    device: str, operation: str
) -> None:
    """The zeros of the launch would end the process where a model of an older clopt divides."""
    source = f"__kernel void quotient(__global int *y) {{\n    y[0] = 7 {operation}y[1];\n}}\n"
    chosen = find_device(device)
    context = cl.Context([chosen.handle])
    kernel = Kernel("quotient", (MemRefType(i32, [64]),), frozenset({0}), (64,), (1,))
    assert not compile_by_launching(context, chosen, source, OPTIONS, [kernel])[1]


@pytest.mark.usefixtures("helpers")
def test_jobs_of_a_helper_that_fails_are_left_to_the_caller() -> None:
    here: list[str] = []
    answers = workers.share_work(split_kernels(SOURCE), "raise SystemExit", here.append, str.encode)
    assert not answers
    assert sorted(here) == ["one", "two"]


@pytest.mark.usefixtures("helpers")
@pytest.mark.parametrize("local_size", [(1, 1, 1), (4, 2, 1)])
def test_kernels_are_compiled_for_their_launch(device: str, local_size: tuple[int, ...]) -> None:
    """They run over zeros of our own; a model's memory is not touched, and results are right."""
    chosen = find_device(device)
    context = cl.Context([chosen.handle])
    element = MemRefType(f32, [64])
    kernels = [
        Kernel(name, (element,), frozenset({0}), (64, 2, 1), local_size) for name in ("one", "two")
    ]
    options = build_options(chosen, SOURCE)
    program, any_ran = compile_by_launching(context, chosen, SOURCE, options, kernels)
    assert any_ran
    queue = cl.CommandQueue(context)
    result = np.zeros(64, np.float32)
    buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=result)
    kernel = cl.Kernel(program, "two")
    kernel.set_arg(0, buffer)
    cl.enqueue_nd_range_kernel(queue, kernel, (64, 2, 1), local_size)
    cl.enqueue_copy(queue, result, buffer)
    assert result[0] == 2


@pytest.mark.parametrize("asks", [True, False])
def test_division_is_rounded_correctly_where_a_kernel_asks_for_it(asks: bool, device: str) -> None:
    chosen = find_device(device)
    remark = f"    // Build with {ROUNDING_OPTION} where the device takes it.\n" if asks else ""
    source = f"__kernel void f(__global float *y) {{\n{remark}    y[0] = y[1] / y[2];\n}}\n"
    context = cl.Context([chosen.handle])
    built = build_kernels(context, chosen, source, ["f"], BinaryCache(None))
    options = built.programs["f"].get_build_info(chosen.handle, cl.program_build_info.OPTIONS)
    assert (ROUNDING_OPTION in options) == (asks and chosen.has_rounding_option)


HANGING = (
    "import time; from clopt.backends.pyopencl_runtime.workers import answer_jobs; "
    "answer_jobs(lambda start: lambda job: time.sleep(600))"
)


@pytest.mark.usefixtures("helpers")
def test_a_helper_whose_driver_hangs_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_PATIENCE", 0.1)
    begun = Event()

    def job(key: str) -> bytes:
        # For the job alone: on a busy machine the helper's start takes longer.
        monkeypatch.setattr(workers, "_MOST_SECONDS", 2.0)
        begun.set()
        return key.encode()

    here: list[bool] = []
    answers = workers.share_work(
        split_kernels(SOURCE), HANGING, lambda key: here.append(begun.wait(60)), job
    )
    assert here == [True]  # the other kernel was the helper's
    assert not answers


@pytest.mark.usefixtures("helpers")
def test_helpers_start_before_the_program_is_built_and_wait_for_it() -> None:
    helper = (
        "import clopt.backends.pyopencl_runtime.workers as workers; "
        "workers.answer_jobs(lambda start: lambda job: start + job)"
    )
    answered = Event()

    def job(key: str) -> bytes:
        answered.set()
        return key.encode()

    answers = workers.share_work(
        split_kernels(SOURCE), helper, lambda key: answered.wait(60), job, lambda: b"built "
    )
    assert answers == {key: b"built " + key.encode() for key in answers}
    assert answers


@pytest.mark.usefixtures("helpers")
def test_a_source_that_is_refused_leaves_no_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []
    monkeypatch.setattr(workers, "_ask", lambda process, message: asked.append(message))

    def refuse() -> bytes:
        raise RuntimeError("refused")

    with pytest.raises(RuntimeError, match="refused"):
        workers.share_work(split_kernels(SOURCE), HANGING, pytest.fail, str.encode, refuse)
    assert not asked


@pytest.mark.usefixtures("helpers")
def test_an_interrupted_build_waits_for_no_helper() -> None:
    begun = Event()

    def job(key: str) -> bytes:
        begun.set()
        return key.encode()

    def interrupt(key: str) -> None:
        begun.wait(60)
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        workers.share_work(split_kernels(SOURCE), HANGING, interrupt, job)
    assert time.monotonic() - start < 90
