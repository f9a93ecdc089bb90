"""Runs queue programs on OpenCL devices through pyopencl."""

from pyopencl import Buffer, CommandQueue, Context

from .c_executable import CExecutable
from .devices import Device, find_device, list_devices, target_for
from .executable import Executable
from .image_views import ImageViews
from .place import choose_place
from .runnable import Runnable

__all__ = [
    "Buffer",
    "CExecutable",
    "CommandQueue",
    "Context",
    "Device",
    "Executable",
    "ImageViews",
    "Runnable",
    "choose_place",
    "find_device",
    "list_devices",
    "target_for",
]
