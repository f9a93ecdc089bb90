"""Transfers between arrays of the host and the memory of a program's inputs and outputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pyopencl as cl

from ...tensor_info import TensorInfo
from .arrays import Array, PortMemory
from .boxes import LeadingBox
from .given_images import tensor_of, texel_shape, texels_of


def upload(
    queue: cl.CommandQueue, port: TensorInfo, memory: PortMemory, array: Array, box: LeadingBox
) -> list[cl.Event]:
    """Write a tensor to the box of a memory without waiting; return the events."""
    if port.image is None:
        return box.upload(queue, cast("cl.Buffer", memory), array)
    texels = texels_of(box.padded(array))
    return [cl.enqueue_copy(queue, memory, texels, is_blocking=False, **_region(port))]


class Download:
    """A tensor on its way from the device."""

    def __init__(
        self,
        queue: cl.CommandQueue,
        port: TensorInfo,
        memory: PortMemory,
        target: Array,
        box: LeadingBox,
    ) -> None:
        """Read the box of a memory."""
        self._port, self._box, self._target = port, box, target
        self._texels: Array | None = None
        # pyopencl waits when a transfer's event is dropped, so this keeps it.
        if port.image is None:
            self._events = box.download(queue, target, cast("cl.Buffer", memory))
            return
        self._port = replace(port, shape=box.whole)
        self._texels = np.empty(texel_shape(self._port), port.dtype)
        self._events = [
            cl.enqueue_copy(queue, self._texels, memory, is_blocking=False, **_region(port))
        ]

    def end(self) -> None:
        """Complete the target, once the queue has finished."""
        if self._texels is not None:
            self._target[...] = tensor_of(self._port, self._texels)[self._box.slices]


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
    return {"origin": (0, 0), "region": port.image}
