"""Runs queue programs on OpenCL devices through pyopencl."""

from pyopencl import CommandQueue, Context, Image

from .bindings import Bindable, DeviceMemory
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
