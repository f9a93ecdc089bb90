"""The OpenCL library that pyopencl uses, for C code in the same process.

pyopencl's wheel contains an OpenCL loader. A second loader in the process would load other layers,
so our libraries leave OpenCL's functions undefined and resolve them in this one.
"""

from __future__ import annotations

import ctypes
from functools import cache

from pyopencl import _cl as opencl  # pyright: ignore[reportPrivateUsage]

from ...errors import CloptError


class _SymbolInfo(ctypes.Structure):
    """`Dl_info` of dladdr(3)."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


@cache
def share_opencl() -> ctypes.CDLL:
    """Load pyopencl's OpenCL library so that libraries loaded later find its functions.

    Return the library. Raises CloptError if the system does not report which one it is.
    """
    try:
        extension = ctypes.CDLL(opencl.__file__)
        dladdr = ctypes.CDLL(None).dladdr
        address = ctypes.cast(extension.clGetPlatformIDs, ctypes.c_void_p)
        info = _SymbolInfo()
        if dladdr(address, ctypes.byref(info)) and info.file:
            return ctypes.CDLL(info.file.decode(), mode=ctypes.RTLD_GLOBAL)
    except (AttributeError, OSError, TypeError):
        pass
    raise CloptError(
        "Programs that need a C library call OpenCL from C, and this system does not report which "
        "OpenCL library pyopencl has loaded; compile the model for kernels only, or save it as C."
    )
