"""Turns a queue program into kernel objects with their arguments set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl
from xdsl.ir import Attribute, SSAValue

from ...dialects.cl import EnqueueCopyOp, EnqueueKernelOp, Kernel, ProgramOp
from ...dialects.cl.ops import byte_count
from ...errors import CloptError
from .images import Images, copy_options
from .memory import Memory
from .storage import Slot, Storage


@dataclass(frozen=True)
class Launch:
    """A launch with its own kernel object, so that the arguments stay set."""

    kernel: cl.Kernel
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    bindings: tuple[tuple[int, int], ...]
    """(argument, number of a `Binding`) for the arguments that depend on the caller's buffers."""


@dataclass(frozen=True)
class Binding:
    """A part of a buffer that the caller binds, or an image over it."""

    parameter: int
    offset: int
    type: Attribute


@dataclass(frozen=True)
class Copy:
    """A copy from a buffer or image, or of the parameter with a number, to another."""

    source: int | cl.Buffer | cl.Image
    destination: int | cl.Buffer | cl.Image
    options: Mapping[str, Any]
    """For `pyopencl.enqueue_copy`."""


Command: TypeAlias = Launch | Copy


@dataclass(frozen=True)
class Site:
    """The place of a program: the device with its images, and the built program of each kernel."""

    images: Images
    programs: Mapping[str, cl.Program]


@dataclass(frozen=True)
class Plan:
    """The commands of one inference, in order."""

    commands: list[Command]
    bindings: list[Binding]
    storage: Storage
    """The program's own memory: a kernel does not keep its arguments alive."""


def make_plan(
    program: ProgramOp, kernels: Mapping[str, Kernel], storage: Storage, site: Site
) -> Plan:
    """Make the kernel objects of `program` and set the arguments that are in `storage`."""
    maker = _Maker(site, storage)
    commands: list[Command] = []
    for op in program.body.block.ops:
        match op:
            case EnqueueCopyOp():
                commands += maker.copy(op)
            case EnqueueKernelOp():
                commands += maker.launch(kernels[op.kernel_name], op.args)
            case _:
                pass
    return Plan(commands, list(maker.bindings), storage)


class _Maker:
    """Makes commands."""

    def __init__(self, site: Site, storage: Storage):
        self.site = site
        self.places = storage.places
        self.bindings: dict[Binding, int] = {}

    def copy(self, op: EnqueueCopyOp) -> list[Command]:
        """The copy, or nothing if there are no bytes to copy."""
        size = byte_count(op.source.type)
        if not size:
            return []
        source, source_offset = self._memory(op.source)
        destination, destination_offset = self._memory(op.destination)
        options = copy_options(
            op.source.type, op.destination.type, size, source_offset, destination_offset
        )
        return [Copy(source, destination, options)]

    def launch(self, kernel: Kernel, args: Sequence[SSAValue]) -> list[Command]:
        """The launch of `kernel`, or nothing if its range is empty."""
        if kernel.global_size is None:
            raise CloptError(
                f"The kernel @{kernel.name} has no global_size; lower the module with the pipeline "
                "opencl before running it."
            )
        if 0 in kernel.global_size:
            return []
        site = self.site
        site.images.check_launch(kernel)
        limit = site.images.device.handle.max_work_group_size
        if kernel.local_size is not None and math.prod(kernel.local_size) > limit:
            raise CloptError(
                f"The kernel @{kernel.name} wants work-groups of {math.prod(kernel.local_size)}, "
                f"but {site.images.device} allows {limit}; compile the model for this device."
            )
        handle = cl.Kernel(site.programs[kernel.function_name], kernel.function_name)
        bindings: list[tuple[int, int]] = []
        for index, arg in enumerate(args):
            place = self.places[arg]
            if not isinstance(place, Slot):
                handle.set_arg(index, place)
            elif isinstance(place.memory, Memory):
                handle.set_arg(index, place.memory.argument(arg.type, place.offset))
            else:
                binding = Binding(place.memory, place.offset, arg.type)
                bindings.append((index, self.bindings.setdefault(binding, len(self.bindings))))
        for index, bound in enumerate(kernel.bounds, len(args)):
            handle.set_arg(index, np.int32(bound))
        return [Launch(handle, kernel.global_size, kernel.local_size, tuple(bindings))]

    def _memory(self, value: SSAValue) -> tuple[int | cl.Buffer | cl.Image, int]:
        """The memory object that holds a value, and the byte at which the value starts."""
        place = self.places[value]
        if not isinstance(place, Slot):
            return place, 0
        memory = place.memory
        return (memory.buffer if isinstance(memory, Memory) else memory), place.offset
