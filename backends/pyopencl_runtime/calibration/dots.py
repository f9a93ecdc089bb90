"""Finds out how a CPU's compiler lets kernels multiply bytes."""

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
"""The lanes of AVX-512's instruction."""
_SECONDS = 60
"""After which a process that does not answer has failed."""

_KERNEL = """
__kernel void try_dots(__global const int *a, __global const int *b, __global int *sums) {{
    vstore16({name}(vload16(0, sums), vload16(0, a), vload16(0, b)), 0, sums);
}}
"""


def dot_product_of(device: Device) -> str | None:
    """The value of the fact `dot_product` for a CPU; None where no way works."""
    if not has_byte_products():
        return None
    return next((form for form in _FORMS if _works(device, form)), None)


def _works(device: Device, form: str) -> bool:
    """Whether a form gives exact sums.

    A compiler refuses assembly that it does not know, but ends the process for a function that it
    knows with other types. So that is tried in a process of its own.
    """
    name = function_of(form, _WIDTH)
    source = definition(name, _WIDTH) + _KERNEL.format(name=function_name(name, _WIDTH))
    if form == "asm":
        try:
            return works(device.handle, source)
        except cl.Error:
            return False
    handle = device.handle
    asked = json.dumps([handle.platform.name, handle.name, handle.driver_version, source])
    script = Path(__file__).with_name("try_dots.py")
    try:
        found = subprocess.run(
            [sys.executable, str(script)],
            input=asked.encode(),
            env=environment_of_helpers(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return found.returncode == 0
