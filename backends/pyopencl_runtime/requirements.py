"""What a program asks of a device beyond the core of OpenCL 1.2, checked before anything is built.

A program may have been compiled for another device than it runs on.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ...errors import CloptError
from .devices import Device

# Its compiler knows `half`, its list of extensions does not.
_HALF_WITHOUT_EXTENSION = ("NVIDIA CUDA",)


class _Feature(NamedTuple):
    name: str
    pattern: str
    """What is in the OpenCL C of every program that needs it."""
    remedy: str


_FP16 = _Feature(
    "arithmetic in half precision",
    # Storing halves needs nothing: pointers to them and vload_half are not meant.
    r"\b(half\d* \w|half\d*\)|convert_half|as_half|(read|write)_imageh)",
    "with the fact fp16=false of its target",
)
_FP64 = _Feature(
    "arithmetic in double precision",
    r"\bcl_khr_fp64\b",
    "with its f64 tensors cast to f32",
)
_IMAGES = _Feature(
    "images",
    r"\bimage[12]d_(buffer_|array_)?t\b",
    "with the fact texture=off of its target",
)


def check_requirements(device: Device, source: str) -> None:
    """Raise CloptError if `device` cannot run kernels like those of `source`."""
    extensions = device.handle.extensions.split()
    there = {
        _FP16: "cl_khr_fp16" in extensions or device.platform in _HALF_WITHOUT_EXTENSION,
        _FP64: "cl_khr_fp64" in extensions,
        _IMAGES: bool(device.handle.image_support),
    }
    for feature, has in there.items():
        if not has and re.search(feature.pattern, source):
            raise CloptError(
                f"The model was compiled to use {feature.name}, which {device} does not have; "
                f"compile it for this device, or {feature.remedy}."
            )
