"""Check that a device has the features that a program needs beyond the core of OpenCL 1.2.

The check precedes the build, because a program may have been compiled for another device.
"""

from __future__ import annotations

from ...errors import CloptError
from ..kernel_source import Feature, features_of
from .devices import Device, has_dots

_NAMES = {
    Feature.FP16: "arithmetic in half precision",
    Feature.FP64: "arithmetic in double precision",
    Feature.ROUNDING: "correctly rounded division",
    Feature.DOTS: "products of four bytes (cl_khr_integer_dot_product)",
    Feature.PTX_DOTS: "NVIDIA's instruction dp4a",
    Feature.IMAGES: "images",
}
_REMEDIES = {
    Feature.FP16: "with the fact fp16=false of its target",
    Feature.FP64: "with its f64 tensors cast to f32",
    Feature.ROUNDING: "with the fact correctly_rounded_division=false of its target",
    Feature.DOTS: "with the fact dot_product=off of its target",
    Feature.PTX_DOTS: "with the fact dot_product=off of its target",
    Feature.IMAGES: "with the fact texture=off of its target",
}


def check_requirements(device: Device, source: str) -> None:
    """Raise CloptError if `device` cannot run the kernels of `source`."""
    extensions = device.handle.extensions.split()
    supported = {
        Feature.FP16: "cl_khr_fp16" in extensions,
        Feature.FP64: "cl_khr_fp64" in extensions,
        Feature.ROUNDING: device.rounds_correctly,
        Feature.DOTS: has_dots(device, "khr"),
        Feature.PTX_DOTS: has_dots(device, "ptx"),
        Feature.IMAGES: bool(device.handle.image_support),
    }
    needed = features_of(source)
    for feature, has in supported.items():
        if not has and feature in needed:
            raise CloptError(
                f"The model was compiled to use {_NAMES[feature]}, which {device} does not have; "
                f"compile it for this device, or {_REMEDIES[feature]}."
            )
