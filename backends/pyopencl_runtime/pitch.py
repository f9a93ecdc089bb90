"""A device query that pyopencl does not offer."""

from __future__ import annotations

import ctypes

import pyopencl as cl
from pyopencl import _cl as opencl  # pyright: ignore[reportPrivateUsage]

_CL_DEVICE_IMAGE_PITCH_ALIGNMENT = 0x104A


def image_pitch_alignment(device: cl.Device) -> int:
    """Return CL_DEVICE_IMAGE_PITCH_ALIGNMENT, in texels by the specification; 0 if unknown."""
    try:
        get_info = ctypes.CDLL(opencl.__file__).clGetDeviceInfo
    except (AttributeError, OSError):  # pyopencl's library does not expose its OpenCL loader
        return 0
    answer = ctypes.c_uint(0)
    get_info.argtypes = (
        ctypes.c_void_p,
        ctypes.c_uint,
        ctypes.c_size_t,
        ctypes.c_void_p,
        ctypes.c_void_p,
    )
    get_info.restype = ctypes.c_int
    status = get_info(
        device.int_ptr,
        _CL_DEVICE_IMAGE_PITCH_ALIGNMENT,
        ctypes.sizeof(answer),
        ctypes.byref(answer),
        None,
    )
    return answer.value if status == 0 else 0
