"""Builds of kernels that run once, on a few elements: the drivers' compilers take most of the time.

All kernels are one program, which the driver does not optimise. Measured with 52 kernels on Intel's
runtime: 0.2 s, and 2.1 s as clopt builds for users.
"""

from __future__ import annotations

from clopt.backends.pyopencl_runtime import build
from clopt.backends.pyopencl_runtime.compiler import build_options
from clopt.backends.pyopencl_runtime.devices import Device


def _unoptimised(device: Device, source: str) -> str:
    return f"{build_options(device, source)} -cl-opt-disable"


CHANGES = {"build_options": _unoptimised, "_KERNEL_BY_KERNEL": ()}
"""What to set in the module `build`."""
assert all(hasattr(build, name) for name in CHANGES)
