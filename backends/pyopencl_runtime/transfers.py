"""Transfers between arrays of the host and the memory of a program's inputs and outputs."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pyopencl as cl

from ...tensor_info import TensorInfo
from .arrays import Array, PortMemory
from .given_images import tensor_of, texel_shape, texels_of


def upload(
    queue: cl.CommandQueue, port: TensorInfo, memory: PortMemory, array: Array
) -> list[cl.Event]:
    """Write a tensor without waiting; return the events of the transfers."""
    if not array.size:
        return []
    texels = array if port.image is None else texels_of(array)
    return [cl.enqueue_copy(queue, memory, texels, is_blocking=False, **_region(port))]


class Download:
    """A tensor on its way from the device."""

    def __init__(
        self, queue: cl.CommandQueue, port: TensorInfo, memory: PortMemory, target: Array
    ) -> None:
        is_image = port.image is not None
        self._port, self._target = port, target
        self._texels = np.empty(texel_shape(port), port.dtype) if is_image else None
        copied = target if self._texels is None else self._texels
        # pyopencl waits when a transfer's event is dropped, so this keeps it.
        self._events = [
            cl.enqueue_copy(queue, copied, memory, is_blocking=False, **_region(port))
            for _ in range(bool(target.size))
        ]

    def end(self) -> None:
        """Complete the target, once the queue has finished."""
        if self._texels is not None:
            self._target[...] = tensor_of(self._port, self._texels)


class Mapped:
    """An array that kernels write in place."""

    def __init__(self, queue: cl.CommandQueue, buffer: cl.Buffer, array: Array) -> None:
        """Only a mapping gives the host what kernels wrote, says OpenCL, whatever runtimes do."""
        self._queue = queue
        self._seen, _ = cl.enqueue_map_buffer(
            queue, buffer, cl.map_flags.READ, 0, array.shape, array.dtype, is_blocking=False
        )

    def end(self) -> None:
        """Give the memory back to its owner, once the queue has finished."""
        cast("cl.MemoryMap", self._seen.base).release(self._queue)


def _region(port: TensorInfo) -> dict[str, Any]:
    """Return the options of a copy from or to host memory: the whole image."""
    if port.image is None:
        return {}
    return {"origin": (0, 0), "region": port.image}
