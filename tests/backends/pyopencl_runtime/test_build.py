"""Kernels are built one by one or together, here or in helper processes, with the same result."""

from __future__ import annotations

import pyopencl as cl
import pytest

from clopt.backends.kernel_source import ROUNDING_OPTION, split_kernels
from clopt.backends.pyopencl_runtime import find_device, workers
from clopt.backends.pyopencl_runtime.build import build_kernels
from clopt.backends.pyopencl_runtime.cache import BinaryCache
from clopt.backends.pyopencl_runtime.compiler import from_binary

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


def test_helpers_compile_what_they_can(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_BYTES_PER_HELPER", 1)
    monkeypatch.setattr(workers, "_cores", lambda: 2)
    chosen = find_device(device)
    sources = {**split_kernels(SOURCE), "wrong": "kernel void wrong() { unknown(); }"}
    binaries = workers.compile_in_processes(chosen, sources, OPTIONS)
    assert sorted(binaries) == ["one", "two"]
    context = cl.Context([chosen.handle])
    for name, binary in binaries.items():
        program = from_binary(context, chosen, binary, OPTIONS)
        assert program is not None
        assert cl.Kernel(program, name).num_args == 1


def test_small_sources_need_no_helpers(device: str) -> None:
    assert workers.compile_in_processes(find_device(device), split_kernels(SOURCE), OPTIONS) == {}


@pytest.mark.parametrize("asks", [True, False])
def test_division_is_rounded_correctly_where_a_kernel_asks_for_it(asks: bool, device: str) -> None:
    chosen = find_device(device)
    remark = f"    // Build with {ROUNDING_OPTION} where the device takes it.\n" if asks else ""
    source = f"__kernel void f(__global float *y) {{\n{remark}    y[0] = y[1] / y[2];\n}}\n"
    context = cl.Context([chosen.handle])
    built = build_kernels(context, chosen, source, ["f"], BinaryCache(None))
    options = built.programs["f"].get_build_info(chosen.handle, cl.program_build_info.OPTIONS)
    assert (ROUNDING_OPTION in options) == (asks and chosen.has_rounding_option)
