"""Choice of the device, context and queue of a program."""

from __future__ import annotations

from functools import cache

import pyopencl as cl

from ...errors import CloptError
from .devices import POCL, Device, device_of, find_device

_LIBRARY_PER_CONTEXT = (POCL,)


def choose_place(
    device: str | int | Device | None, context: cl.Context | None, queue: cl.CommandQueue | None
) -> tuple[Device, cl.Context, cl.CommandQueue]:
    """Return where a program runs: on `queue`, else in `context`, else on `device`."""
    if queue is not None:
        context = context or queue.context
        check_queue(queue, context)
        return device_of(queue.device), context, queue
    if context is None:
        chosen = find_device(device)
        context = context_of(chosen)
    else:
        chosen = device_of(context.devices[0]) if device is None else find_device(device)
        if chosen.handle not in context.devices:
            raise CloptError(f"{chosen} does not belong to the given context.")
    return chosen, context, cl.CommandQueue(context, chosen.handle)


def context_of(device: Device) -> cl.Context:
    """Return the context of programs whose caller gives none.

    PoCL reads its library of builtins once for each context, which takes 0.7 s (PoCL 3.1, Zen 3).
    So all programs on one of its devices share a context, which the process keeps.
    """
    if device.platform in _LIBRARY_PER_CONTEXT:
        return _kept_context(device.handle)
    return cl.Context([device.handle])


@cache
def _kept_context(handle: cl.Device) -> cl.Context:
    return cl.Context([handle])


def check_queue(queue: cl.CommandQueue, context: cl.Context) -> None:
    """Raise CloptError for a queue that a program in `context` cannot use."""
    if queue.context != context:
        raise CloptError("The given queue belongs to another context than the program.")
    if queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
        raise CloptError("A program needs an in-order queue, but the given one is out-of-order.")
