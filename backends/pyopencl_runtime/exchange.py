"""The arrays and buffers of one call of `run`: which are used in place, and which are copied.

Kernels of a CPU read and write large arrays of the host where they lie, if these are aligned.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyopencl as cl
import pyopencl.array as cla

from ...tensor_info import TensorInfo
from .arrays import Array, Arrays, Bindable, Outputs, PortMemory
from .bindings import check_apart, given_memory, span_of
from .boxes import LeadingBox
from .caches import whole_cache
from .devices import Device, family_of
from .inputs import checked_inputs, checked_names, checked_targets
from .transfers import Download, Mapped, upload

_LEAST = 1 << 18
"""Bytes of the smallest array that is used in place.

Making a buffer and mapping it take 20 to 40 us, as long as a copy of 256 KB (both runtimes, Zen 4).
"""

_WIDEST = 16
"""Bytes of a kernel's widest access, to which it takes buffers to be aligned."""


def host_alignment(device: Device) -> int | None:
    """Return the alignment in bytes of arrays that kernels can use in place; None for none.

    PoCL 3.1 does so at any address. Intel's runtime copies an array that does not start at a
    multiple of 128 bytes when a buffer is made of it, which takes longer than our copy.
    """
    if device.kind != "cpu":
        return None
    if family_of(device) == "pocl":
        return _WIDEST
    return max(_WIDEST, device.handle.mem_base_addr_align // 8)


@dataclass(frozen=True)
class Side:
    """What a program exchanges with its callers, and how.

    The arrays of callers may be smaller than the inputs and outputs of the program.
    """

    inputs: Mapping[int, TensorInfo]
    """Those that callers give, by their numbers among all ports."""
    outputs: Mapping[int, TensorInfo]
    """Those that callers get, in the same way."""
    sizes: Sequence[int]
    """The bytes that each port needs in the memory of a caller."""
    boxes: Sequence[LeadingBox]
    """The elements of each port of the program that are exchanged."""
    context: cl.Context
    queue: cl.CommandQueue
    alignment: int | None
    """That of arrays in use in place; None where arrays of the host are always copied."""
    whole: Sequence[TensorInfo]
    """The ports of the program."""
    overwritten: Mapping[int, int]
    """The outputs that overwrite an input, and that input."""

    def is_cache(self, i: int) -> bool:
        """Return whether a port is an output that overwrites an input, or that input."""
        return i in self.overwritten or i in self.overwritten.values()

    def takes(self, array: Array) -> bool:
        """Return whether kernels should use `array` in place."""
        if self.alignment is None or array.nbytes < _LEAST:
            return False
        return not address(array) % self.alignment

    def new(self, i: int) -> Array:
        """Return an array for an output of the program, or for the box of it that callers get.

        If possible, the device writes to it in place.
        """
        port, box = self.outputs[i], self.boxes[i]
        size = box.whole_bytes
        if self.alignment is None or size < _LEAST or port.image is not None or not box.is_leading:
            return np.empty(port.shape, port.dtype)
        raw = np.empty(size + self.alignment, np.uint8)
        start = -address(raw) % self.alignment
        return raw[start : start + size].view(port.dtype).reshape(box.whole)


class Exchange:
    """The arguments of one inference, checked."""

    results: list[Any]
    """The outputs in the order in which the caller wants them."""

    def __init__(self, side: Side, inputs: Arrays, outputs: Outputs | None) -> None:
        self._side = side
        self._host: dict[int, Array] = {}
        self._memory: dict[int, PortMemory] = {}
        self._boxed: dict[int, cl.Buffer] = {}
        self._in_place: dict[int, Array] = {}
        contents = checked_inputs(tuple(side.inputs.values()), inputs)
        for (i, port), content in zip(side.inputs.items(), contents, strict=True):
            self._take(i, port, content)
        if isinstance(outputs, Mapping):
            for i, target in checked_targets(side.outputs, outputs).items():
                self._take(i, side.outputs[i], target)
            self.results = list(outputs.values())
            self._check_apart()
        else:
            numbers = side.outputs if outputs is None else checked_names(side.outputs, outputs)
            made = {i: side.new(i) for i in numbers}
            for i, array in made.items():
                self._take(i, side.outputs[i], array)
            self.results = [side.boxes[i].of(made[i]) for i in numbers]

    def memory(self) -> Mapping[int, PortMemory]:
        """Return the memory of the ports that use the caller's in place; the others have none."""
        return self._memory | {i: self._over(i, array) for i, array in self._in_place.items()}

    def send(self, memory: Sequence[PortMemory], held: Collection[str]) -> list[cl.Event]:
        """Copy to `memory`, that of all ports, the inputs that are not read in place.

        `held` names inputs whose arrays are there already.
        """
        side = self._side
        for i in self._boxed.keys() & side.inputs.keys():
            side.boxes[i].fill(side.queue, cast("cl.Buffer", memory[i]), self._boxed[i])
        return [
            event
            for i, array in self._host.items()
            if i in side.inputs and side.inputs[i].name not in held
            for event in upload(side.queue, side.inputs[i], memory[i], array, side.boxes[i])
        ]

    def receive(self, memory: Sequence[PortMemory]) -> list[Download | Mapped]:
        """Copy from `memory` the outputs that are not written in place."""
        side = self._side
        for i in self._boxed.keys() & side.outputs.keys():
            side.boxes[i].extract(side.queue, self._boxed[i], cast("cl.Buffer", memory[i]))
        copied: list[Download | Mapped] = [
            Download(side.queue, side.outputs[i], memory[i], array, side.boxes[i])
            for i, array in self._host.items()
            if i in side.outputs
        ]
        return copied + [
            Mapped(side.queue, cast("cl.Buffer", memory[i]), array)
            for i, array in self._in_place.items()
            if i in side.outputs
        ]

    def _take(self, i: int, port: TensorInfo, given: Array | Bindable) -> None:
        side = self._side
        if isinstance(given, np.ndarray):
            is_whole = port.image is None and given.nbytes == side.boxes[i].whole_bytes
            # Kernels would write to the array of an input that an output overwrites.
            is_usable = is_whole and side.takes(given) and not side.is_cache(i)
            (self._in_place if is_usable else self._host)[i] = given
            return
        size, is_cache, is_whole = side.sizes[i], side.is_cache(i), side.boxes[i].is_whole
        if is_cache and (cache := whole_cache(given, port, side.whole[i])) is not None:
            given, size, is_whole = cache, side.whole[i].bytes, True
        is_written = is_cache or i in side.outputs
        memory = given_memory(port, given, size, is_written, side.context)
        if is_whole or isinstance(memory, cl.Image):
            self._memory[i] = memory
        else:
            self._boxed[i] = memory
        if isinstance(given, cla.Array) and given.queue != side.queue:
            given.finish()

    def _over(self, i: int, array: Array) -> cl.Buffer:
        access = cl.mem_flags.READ_WRITE if i in self._side.outputs else cl.mem_flags.READ_ONLY
        return cl.Buffer(self._side.context, access | cl.mem_flags.USE_HOST_PTR, hostbuf=array)

    def _check_apart(self) -> None:
        side = self._side
        spans = {i: span_of(memory, side.sizes[i]) for i, memory in self._boxed.items()}
        for i, memory in self._memory.items():
            # All of a cache, although callers see a part of it.
            size = side.whole[i].bytes if side.is_cache(i) else side.sizes[i]
            spans[i] = span_of(memory, size)
        for i, array in (self._host | self._in_place).items():
            spans[i] = (0, address(array), address(array) + array.nbytes)
        check_apart({**side.inputs, **side.outputs}, side.outputs, spans, side.overwritten)


def address(array: Array) -> int:
    """Return the address of an array's first element."""
    return array.__array_interface__["data"][0]
