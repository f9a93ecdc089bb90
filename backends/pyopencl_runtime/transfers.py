"""Transfers between numpy arrays and the memory of a program's inputs and outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyopencl as cl

from ...tensor_info import TensorInfo
from .bindings import PortMemory
from .given_images import tensor_of, texel_shape, texels_of
from .inputs import Array


def upload(
    queue: cl.CommandQueue, port: TensorInfo, memory: PortMemory, array: Array
) -> list[cl.Event]:
    """Write a tensor, without waiting."""
    if not array.size:
        return []
    texels = array if port.image is None else texels_of(array)
    return [cl.enqueue_copy(queue, memory, texels, is_blocking=False, **_region(port))]


class Download:
    """A tensor on its way from the device; `array` has it once the queue has finished."""

    def __init__(self, queue: cl.CommandQueue, port: TensorInfo, memory: PortMemory):
        shape = port.shape if port.image is None else texel_shape(port)
        self._port = port
        self._target = np.empty(shape, port.dtype)
        # pyopencl waits when a transfer's event is dropped, so this keeps it.
        self._events = [
            cl.enqueue_copy(queue, self._target, memory, is_blocking=False, **_region(port))
            for _ in range(bool(self._target.size))
        ]

    @property
    def array(self) -> Array:
        """The tensor."""
        is_image = self._port.image is not None
        return tensor_of(self._port, self._target) if is_image else self._target


def _region(port: TensorInfo) -> dict[str, Any]:
    """The options of a copy from or to host memory: the whole image."""
    if port.image is None:
        return {}
    return {"origin": (0, 0), "region": port.image}
