"""What a program asks of a device beyond the core of OpenCL 1.2, checked before anything is built.

A program may have been compiled for another device than it runs on.
"""

from __future__ import annotations

from ...errors import CloptError
from ..kernel_source import Feature, features_of
from .devices import Device

# Its compiler knows `half`, its list of extensions does not.
_HALF_WITHOUT_EXTENSION = ("NVIDIA CUDA",)

_NAMES = {
    Feature.FP16: "arithmetic in half precision",
    Feature.FP64: "arithmetic in double precision",
    Feature.IMAGES: "images",
}
_REMEDIES = {
    Feature.FP16: "with the fact fp16=false of its target",
    Feature.FP64: "with its f64 tensors cast to f32",
    Feature.IMAGES: "with the fact texture=off of its target",
}


def check_requirements(device: Device, source: str) -> None:
    """Raise CloptError if `device` cannot run kernels like those of `source`."""
    extensions = device.handle.extensions.split()
    there = {
        Feature.FP16: "cl_khr_fp16" in extensions or device.platform in _HALF_WITHOUT_EXTENSION,
        Feature.FP64: "cl_khr_fp64" in extensions,
        Feature.IMAGES: bool(device.handle.image_support),
    }
    needed = features_of(source)
    for feature, has in there.items():
        if not has and feature in needed:
            raise CloptError(
                f"The model was compiled to use {_NAMES[feature]}, which {device} does not have; "
                f"compile it for this device, or {_REMEDIES[feature]}."
            )
