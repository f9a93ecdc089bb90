"""The OpenCL library that pyopencl uses, for C code in the same process.

pyopencl's wheel brings its own. A second one would be another loader, with other layers, so our
libraries leave OpenCL's functions open and find them in this one.
"""

from __future__ import annotations

import ctypes
from functools import cache

from pyopencl import _cl as opencl  # pyright: ignore[reportPrivateUsage]

from ...errors import CloptError


class _Found(ctypes.Structure):
    """`Dl_info` of dladdr(3)."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


@cache
def share_opencl() -> ctypes.CDLL:
    """pyopencl's OpenCL library, whose functions libraries that are loaded from now on find.

    CloptError where the system does not tell which one it is.
    """
    try:
        own = ctypes.CDLL(opencl.__file__)
        dladdr = ctypes.CDLL(None).dladdr
        address = ctypes.cast(own.clGetPlatformIDs, ctypes.c_void_p)
        found = _Found()
        if dladdr(address, ctypes.byref(found)) and found.file:
            return ctypes.CDLL(found.file.decode(), mode=ctypes.RTLD_GLOBAL)
    except (AttributeError, OSError, TypeError):
        pass
    raise CloptError(
        "Programs that need a C library call OpenCL from C, and this system does not tell which "
        "OpenCL library pyopencl has loaded; compile the model for kernels alone, or write it as C."
    )
