"""Runs queue programs on OpenCL devices through pyopencl."""

from pyopencl import Buffer, CommandQueue, Context

from .devices import Device, find_device, list_devices, target_for
from .executable import Executable
from .image_views import ImageViews
from .place import choose_place

__all__ = [
    "Buffer",
    "CommandQueue",
    "Context",
    "Device",
    "Executable",
    "ImageViews",
    "choose_place",
    "find_device",
    "list_devices",
    "target_for",
]
