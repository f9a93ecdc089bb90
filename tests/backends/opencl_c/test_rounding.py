"""Division and square root that are rounded correctly, on devices whose own are not."""

from __future__ import annotations

import re

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

from clopt.backends.opencl_c.functions import definition, function_name
from clopt.backends.opencl_c.functions.rounding import DIVIDE, SQRT
from clopt.backends.pyopencl_runtime import Device, find_device
from clopt.backends.pyopencl_runtime.compiler import from_source

pytestmark = pytest.mark.in_turns

Floats = NDArray[np.float32]
WIDTHS = [1, 8]
COUNT = 1 << 20

# A division and a root that are as wrong as OpenCL C allows: by up to 2 ulp, or 3 ulp.
IMPRECISE = """
static {type} worse(const {type} x, const int most) {{
    const {itype} bits = as_{itype}(x), mixed = bits * 1103515245 + 12345;
    const {itype} by = (mixed >> 16 & 0x7fff) % (2 * most + 1) - most;
    return isnormal(x) && isnormal(as_{type}(bits + by)) ? as_{type}(bits + by) : x;
}}
"""
KERNEL = """
__kernel void f(__global const {type} *a, __global const {type} *b, __global {type} *y) {{
    const int i = get_global_id(0);
    y[i] = {call};
}}
"""


def compute(device: Device, name: str, width: int, a: Floats, b: Floats) -> Floats:
    """A function of every pair, where the device's own operations are made worse."""
    text = definition(name, width)
    spoiled, count = re.subn(r"= a / b", "= worse(a / b, 2)", text)
    if name == SQRT:
        spoiled, count = re.subn(r"sqrt\(m\)", "worse(sqrt(m), 3)", text)
    spoiled, others = re.subn(r"\+ r / ([^;]+);", r"+ worse(r / \1, 2);", spoiled)
    assert (count, others) == (1, 1), "all divisions and roots of the function are spoiled"
    suffix = "" if width == 1 else str(width)
    types = {"type": f"float{suffix}", "itype": f"int{suffix}"}
    arguments = "a[i], b[i]" if name == DIVIDE else "a[i]"
    source = IMPRECISE + "{function}" + KERNEL
    source = source.replace("{function}", spoiled.replace("{", "{{").replace("}", "}}"))
    source = source.format(**types, call=f"{function_name(name, width)}({arguments})")
    context = cl.Context([device.handle])
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (a, b, a)]
    kernel = cl.Kernel(from_source(context, device, source, "-cl-std=CL1.2"), "f")
    kernel(queue, (a.size // width,), None, *buffers)
    y = np.empty_like(a)
    cl.enqueue_copy(queue, y, buffers[2])
    return y


def pairs(kind: str) -> tuple[Floats, Floats]:
    """Operands: any bits, numbers of one size, ratios that are small fractions, and edges."""
    rng = np.random.default_rng(7)
    match kind:
        case "bits":
            a, b = (rng.integers(0, 1 << 32, COUNT, np.uint32).view(np.float32) for _ in "ab")
        case "mantissas":
            a, b = (1 + rng.integers(0, 1 << 23, COUNT) / np.float64(1 << 23) for _ in "ab")
        case "fractions":
            b = rng.integers(1, 1 << 12, COUNT) * np.exp2(rng.integers(-140, 100, COUNT))
            a = b * rng.integers(-(1 << 12), 1 << 12, COUNT) / 2
        case _:
            near = np.float32([0, 1, 2, 3, 255, 2**-126, 2**-149, 2**127, 3e38, np.inf, np.nan])
            near = np.concatenate([near, np.nextafter(near, 0), np.nextafter(near, np.inf)])
            near = np.concatenate([near, -near])
            a, b = (x.ravel() for x in np.meshgrid(near, near))
            pad = -a.size % 8
            a, b = np.pad(a, (0, pad), mode="edge"), np.pad(b, (0, pad), mode="edge")
    with np.errstate(over="ignore"):
        return a.astype(np.float32), b.astype(np.float32)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["bits", "mantissas", "fractions", "edges"])
def test_quotients(kind: str, width: int, device: str) -> None:
    a, b = pairs(kind)
    y = compute(find_device(device), DIVIDE, width, a, b)
    with np.errstate(all="ignore"):
        exact = a / b
    check(y, exact, least=2.0**-60, most=2.0**126)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["bits", "mantissas", "fractions", "edges"])
def test_roots(kind: str, width: int, device: str) -> None:
    x, _ = pairs(kind)
    y = compute(find_device(device), SQRT, width, x, x)
    with np.errstate(all="ignore"):
        exact = np.sqrt(x)
    check(y, exact, least=0.0, most=np.inf)


def check(y: Floats, exact: Floats, least: float, most: float) -> None:
    """Equal bits, signs of zeros too, in the promised range; beyond it as right as OpenCL C is."""
    same = (y.view(np.uint32) == exact.view(np.uint32)) | (np.isnan(y) & np.isnan(exact))
    size = np.abs(exact)
    promised = (size >= least) & (size <= most) | ~(size > 0) | np.isinf(size)
    assert same[promised].all(), f"{(~same[promised]).sum()} of {promised.sum()} are wrong"
    ulps = np.abs(y.view(np.int32).astype(np.int64) - exact.view(np.int32))
    assert (same | (ulps <= 4))[~promised].all()  # 2 of the device, and 2 of `worse`
