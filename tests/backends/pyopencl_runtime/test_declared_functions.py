"""PoCL compiles the functions that a program declares as it compiles those of its header."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import cast

import numpy as np
import pyopencl as cl
import pytest
from pyopencl import _cl as opencl

from clopt import list_devices
from clopt.backends.opencl_c.builtins import CALLS, RELATIONAL_CALLS
from clopt.backends.pyopencl_runtime import choose_place, compiler, find_device
from clopt.backends.pyopencl_runtime.declared_functions import WITHOUT_HEADER, with_declarations

POCL = "Portable Computing Language"
OPTIONS = "-cl-std=CL1.2"
SIZE = 64

needs_pocl = pytest.mark.skipif(
    POCL not in {device.platform for device in list_devices()}, reason="needs PoCL"
)

SOURCE = """
// get_global_id(0) of another_function(1)
static float4 twice(const float4 x) {
    return 2 * x;
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void f(__global const float *restrict x, __global float *restrict y) {
    const int i = get_global_id(0);
    const float4 a = vload4(i, x);
    int4 exponent;
    const float4 half_of_a = frexp(a, &exponent);
    float4 b = exp(sin(a)) + fmax(fma(a, a, half_of_a), 0.5f) + pow(fabs(a), 1.5f);
    b = select(b, twice(b), isless4(a)) + convert_float4(convert_uchar4_sat_rte(a * 100.0f));
    b += convert_float4(max(as_int4(a), 7) >> 20) + convert_float4(clz(as_uint4(a)));
    vstore_half4_rte(b, 0, (__global half *)(y + i * 8 + 4));
    vstore4(b + vload_half4(0, (__global half *)(y + i * 8 + 4)), 0, y + i * 8);
}
""".replace("isless4(a)", "a < 0.25f")

EVERY_CALL = "\n".join(
    f"__kernel void of_{name}(__global float *x) {{ if (x[0] > 2) {{ {name}(x[0]); }} }}"
    for name in sorted(CALLS | RELATIONAL_CALLS)
)


def _build(text: str, options: str) -> cl.Program:
    device = find_device(POCL)
    program = opencl._Program(cl.Context([device.handle]), text)
    program._build(options.encode(), [device.handle])
    return cl.Program(program)


def _results(program: cl.Program) -> np.ndarray:
    context = program.context
    queue = cl.CommandQueue(context)
    values = np.random.default_rng(3).normal(0, 2, 4 * SIZE).astype(np.float32)
    x = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
    found = np.zeros(8 * SIZE, np.float32)
    y = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=found)
    kernel = cl.Kernel(program, "f")
    kernel.set_args(x, y)
    cl.enqueue_nd_range_kernel(queue, kernel, (SIZE,), (1,))
    cl.enqueue_copy(queue, found, y)
    return found.view(np.uint32)


def _options(program: cl.Program) -> str:
    (device,) = program.context.devices
    return cast(
        "str",
        opencl._Program.get_build_info(program._get_prg(), device, cl.program_build_info.OPTIONS),
    )


@needs_pocl
def test_results_are_those_of_the_header_bit_for_bit() -> None:
    text = with_declarations(SOURCE)
    assert text is not None
    declared = _results(_build(text, f"{OPTIONS} {WITHOUT_HEADER}"))
    assert declared.any()
    np.testing.assert_array_equal(declared, _results(_build(SOURCE, OPTIONS)))


@needs_pocl
def test_declarations_do_not_contradict_the_header() -> None:
    text = with_declarations(EVERY_CALL)
    assert text is not None
    declarations = text.partition("#line 1\n")[0]
    assert all(f" {name}(" in declarations for name in CALLS)
    assert _build(f"{declarations}{SOURCE}", OPTIONS)


@needs_pocl
def test_a_program_of_pocl_is_built_without_the_header(monkeypatch: pytest.MonkeyPatch) -> None:
    device = find_device(POCL)
    context = cl.Context([device.handle])
    assert WITHOUT_HEADER in _options(compiler.from_source(context, device, SOURCE, OPTIONS))
    monkeypatch.setattr(compiler, "WITHOUT_HEADER", "-D_OPENCL_H_ -Dget_global_id=1")
    assert _options(compiler.from_source(context, device, SOURCE, OPTIONS)) == OPTIONS


@pytest.mark.parametrize(
    "text",
    [
        "#define g(x) f(x)\n__kernel void k(__global float *x) {}",
        "__kernel void k(__global float *x) { prefetch(x, 4); }",
        "__kernel void k(__read_only image2d_t x) { get_global_id(0); }",
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n__kernel void k(__global half *x) {}",
    ],
)
def test_the_header_stays_for_what_has_no_declaration(text: str) -> None:
    assert with_declarations(text) is None


@needs_pocl
def test_programs_on_pocl_share_the_context_that_has_its_library() -> None:
    _, context, queue = choose_place(POCL, None, None)
    _, again, other = choose_place(POCL, None, None)
    assert again == context
    assert other != queue
