"""Detection of the ways in which a CPU's compiler lets kernels multiply bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyopencl as cl

from ...opencl_c.functions import definition, function_name
from ...opencl_c.functions.dots import function_of
from ..devices import Device
from ..environment import environment_of_helpers
from ..system import has_byte_products
from .try_dots import works

_FORMS = ("asm", "intrinsic")
_WIDTH = 16
"""Lanes of the AVX-512 instruction."""
_SECONDS = 60
"""Limit for a trial process; without an answer by then, the form counts as unsupported."""

_KERNEL = """
__kernel void try_dots(__global const int *a, __global const int *b, __global int *sums) {{
    vstore16({name}(vload16(0, sums), vload16(0, a), vload16(0, b)), 0, sums);
}}
"""


def dot_product_of(device: Device) -> str | None:
    """Return the value of the fact `dot_product` for a CPU, or None if no form works."""
    if not has_byte_products():
        return None
    return next((form for form in _FORMS if _works(device, form)), None)


def _works(device: Device, form: str) -> bool:
    """Return whether a form compiles and returns exact sums.

    Compilers reject unknown assembly with an error. But for an intrinsic that they know with other
    types they abort the process, so intrinsics are tried in a process of their own.
    """
    name = function_of(form, _WIDTH)
    source = definition(name, _WIDTH) + _KERNEL.format(name=function_name(name, _WIDTH))
    if form == "asm":
        try:
            return works(device.handle, source)
        except cl.Error:
            return False
    handle = device.handle
    query = json.dumps([handle.platform.name, handle.name, handle.driver_version, source])
    script = Path(__file__).with_name("try_dots.py")
    try:
        trial = subprocess.run(
            [sys.executable, str(script)],
            input=query.encode(),
            env=environment_of_helpers(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return trial.returncode == 0
