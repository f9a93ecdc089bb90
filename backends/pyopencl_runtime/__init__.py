"""Runs queue programs on OpenCL devices through pyopencl."""

from pyopencl import CommandQueue, Context, Image

from .bindings import Bindable, DeviceMemory
from .c_executable import CExecutable
from .calibration import calibrate, live_target
from .clml import CLML_LIBRARIES, clml_library_version
from .devices import Device, find_device, is_clml_runtime_enabled, list_devices, target_for
from .executable import Executable
from .image_views import ImageViews
from .place import choose_place
from .runnable import Runnable

__all__ = [
    "CLML_LIBRARIES",
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
    "clml_library_version",
    "find_device",
    "is_clml_runtime_enabled",
    "list_devices",
    "live_target",
    "target_for",
]
