"""Checks of the arguments of `compile` and `load` that choose a device."""

from __future__ import annotations

from collections.abc import Sequence

from .backends.pyopencl_runtime import CommandQueue, Context
from .backends.pyopencl_runtime.devices import Device
from .messages.arguments import check_type

A_DEVICE = "a part of its name, its number in clopt.list_devices(), or an entry of it"


def check_place(device: object, context: object, queue: object, arena: object) -> None:
    """Refuse arguments of another type than annotated."""
    check_type("device", device, (str, int, Device), A_DEVICE)
    check_type("context", context, (Context,), "a pyopencl.Context")
    check_type("queue", queue, (CommandQueue,), "a pyopencl.CommandQueue")
    check_type("arena", arena, (Sequence,), "a list of buffers of pyopencl")
