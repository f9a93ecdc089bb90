"""Runs queue programs on OpenCL devices through pyopencl."""

from .devices import Device, find_device, list_devices, target_for
from .executable import Executable

__all__ = ["Device", "Executable", "find_device", "list_devices", "target_for"]
