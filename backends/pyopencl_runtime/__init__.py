"""Runtime that executes queue programs on OpenCL devices through pyopencl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy_exports import lazy_exports

if TYPE_CHECKING:
    from pyopencl import CommandQueue, Context, Image

    from .arrays import Bindable, DeviceMemory
    from .c_executable import CExecutable
    from .calibration import calibrate, live_target
    from .devices import Device, find_device, list_devices, target_for
    from .executable import Executable
    from .image_views import ImageViews
    from .place import choose_place
    from .runnable import Runnable

__all__ = [
    "Bindable",
    "CExecutable",
    "CommandQueue",
    "Context",
    "Device",
    "DeviceMemory",
    "Executable",
    "Image",
    "ImageViews",
    "Runnable",
    "calibrate",
    "choose_place",
    "find_device",
    "list_devices",
    "live_target",
    "target_for",
]

# Lazy: a model from the cache needs neither the executables of modules nor calibration, so it
# starts without importing xDSL.
__getattr__ = lazy_exports(
    __name__,
    {
        "Bindable": ".arrays",
        "CExecutable": ".c_executable",
        "CommandQueue": "pyopencl",
        "Context": "pyopencl",
        "Device": ".devices",
        "DeviceMemory": ".arrays",
        "Executable": ".executable",
        "Image": "pyopencl",
        "ImageViews": ".image_views",
        "Runnable": ".runnable",
        "calibrate": ".calibration",
        "choose_place": ".place",
        "find_device": ".devices",
        "list_devices": ".devices",
        "live_target": ".calibration",
        "target_for": ".devices",
    },
)
