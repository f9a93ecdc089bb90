"""Turns a queue program into kernel objects with their arguments set and buffers made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl
from xdsl.ir import Attribute, SSAValue

from ...dialects.cl.images import image_of, is_over_buffer
from ...dialects.cl.ops import (
    AllocOp,
    ConstantOp,
    EnqueueCopyOp,
    EnqueueKernelOp,
    ViewOp,
    byte_count,
)
from ...dialects.cl.program import Kernel, ProgramOp
from ...errors import CloptError
from ...weights import Weights
from .devices import Device
from .images import Images, copy_options

Storage: TypeAlias = "int | cl.Buffer | cl.Image"
"""Where a value lives: the number of a parameter, or memory of the program's own."""


@dataclass(frozen=True)
class Place:
    """Where a value lives, and what kernels get: an `image1d_buffer` is a view of its buffer."""

    storage: Storage
    argument: Storage


@dataclass(frozen=True)
class Launch:
    """A kernel object of its own for one launch, so that its arguments stay set."""

    kernel: cl.Kernel
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    parameters: tuple[tuple[int, int], ...]
    """(argument, parameter) for the arguments that the caller binds."""


@dataclass(frozen=True)
class Copy:
    """A copy of a whole buffer or image."""

    source: Storage
    destination: Storage
    options: Mapping[str, Any]
    """For `pyopencl.enqueue_copy`."""


Command: TypeAlias = Launch | Copy


@dataclass(frozen=True)
class Site:
    """Where a program is set up: the device, the context, the program of every kernel."""

    device: Device
    context: cl.Context
    programs: Mapping[str, cl.Program]


@dataclass(frozen=True)
class Plan:
    """What one inference enqueues, in order."""

    commands: list[Command]
    memory: list[Storage]
    """The program's own buffers and images: a kernel does not keep its arguments alive."""


def make_plan(
    program: ProgramOp, kernels: Mapping[str, Kernel], weights: Weights, site: Site
) -> Plan:
    """Make the buffers, images and kernel objects of `program` and upload its constants."""
    maker = _Maker(site, weights)
    places: dict[SSAValue, Place] = {
        arg: Place(arg.index, arg.index) for arg in program.body.block.args
    }
    commands: list[Command] = []
    for op in program.body.block.ops:
        match op:
            case AllocOp():
                places[op.result] = maker.alloc(op.result.type)
            case ConstantOp():
                places[op.result] = maker.upload(op)
            case ViewOp():
                places[op.result] = maker.view(places[op.source], op.result.type)
            case EnqueueCopyOp():
                commands += _copy(op, places)
            case EnqueueKernelOp():
                args = [places[arg].argument for arg in op.args]
                commands += _launch(kernels[op.kernel_name], args, maker)
            case _:
                pass
    memory = [part for place in places.values() for part in (place.storage, place.argument)]
    return Plan(commands, [part for part in memory if not isinstance(part, int)])


class _Maker:
    """Makes the program's own memory."""

    def __init__(self, site: Site, weights: Weights):
        self.site = site
        self.weights = weights
        self.images = Images(site.device, site.context)

    def alloc(self, type_: Attribute) -> Place:
        """Memory for a result."""
        size = byte_count(type_)
        if not is_over_buffer(type_):
            _check_size(self.site.device, size)
            image = self.images.make(type_, cl.mem_flags.READ_WRITE)
            return Place(image, image)
        if image_of(type_) is not None:
            size = max(size, _TEXEL_BYTES)
        return self._over(make_buffer(self.site, size), type_, cl.mem_flags.READ_WRITE)

    def upload(self, op: ConstantOp) -> Place:
        """Memory that holds a constant."""
        type_, array = op.result.type, np.asarray(self.weights.get(op.key.data), order="C")
        size = byte_count(type_)
        if array.nbytes != size:
            raise CloptError(
                f'The weight "{op.key.data}" has {array.nbytes} bytes, but {type_} has '
                f"{size}; pass the weights that belong to this module."
            )
        if not size:
            return self.alloc(type_)
        _check_size(self.site.device, size)
        flags = cl.mem_flags.READ_ONLY
        if not is_over_buffer(type_):
            image = self.images.make(type_, flags, hostbuf=array)
            return Place(image, image)
        copied = flags | cl.mem_flags.COPY_HOST_PTR
        return self._over(cl.Buffer(self.site.context, copied, hostbuf=array), type_, flags)

    def view(self, place: Place, type_: Attribute) -> Place:
        """The same memory for a value of another type."""
        if image_of(type_) is None:
            return Place(place.storage, place.storage)
        assert isinstance(place.storage, cl.Buffer), "an image over memory of the program's own"
        return self._over(place.storage, type_, place.storage.flags & _ACCESS)

    def _over(self, buffer: cl.Buffer, type_: Attribute, flags: int) -> Place:
        if image_of(type_) is None:
            return Place(buffer, buffer)
        return Place(buffer, self.images.make(type_, flags, buffer))


_TEXEL_BYTES = 16
_ACCESS = cl.mem_flags.READ_WRITE | cl.mem_flags.READ_ONLY | cl.mem_flags.WRITE_ONLY


def make_buffer(site: Site, size: int) -> cl.Buffer:
    """A buffer of `size` bytes; OpenCL has no empty buffers, so an empty tensor gets one byte."""
    _check_size(site.device, size)
    return cl.Buffer(site.context, cl.mem_flags.READ_WRITE, max(1, size))


def _copy(op: EnqueueCopyOp, places: Mapping[SSAValue, Place]) -> list[Command]:
    """The copy, or nothing where there is nothing to copy."""
    size = byte_count(op.source.type)
    if not size:
        return []
    options = copy_options(op.source.type, op.destination.type) or {"byte_count": size}
    return [Copy(places[op.source].storage, places[op.destination].storage, options)]


def _launch(kernel: Kernel, args: list[Storage], maker: _Maker) -> list[Command]:
    """The launch of `kernel`, or nothing where its range is empty."""
    if kernel.global_size is None:
        raise CloptError(
            f"The kernel @{kernel.name} has no global_size; lower the module with the pipeline "
            "opencl before running it."
        )
    if 0 in kernel.global_size:
        return []
    site = maker.site
    maker.images.check_launch(kernel)
    limit = site.device.handle.max_work_group_size
    if kernel.local_size is not None and math.prod(kernel.local_size) > limit:
        raise CloptError(
            f"The kernel @{kernel.name} wants work-groups of {math.prod(kernel.local_size)}, but "
            f"{site.device} allows {limit}; compile the model for this device."
        )
    handle = cl.Kernel(site.programs[kernel.name], kernel.name)
    parameters: list[tuple[int, int]] = []
    for index, place in enumerate(args):
        if isinstance(place, int):
            parameters.append((index, place))
        else:
            handle.set_arg(index, place)
    for index, bound in enumerate(kernel.bounds, len(args)):
        handle.set_arg(index, np.int32(bound))
    return [Launch(handle, kernel.global_size, kernel.local_size, tuple(parameters))]


def _check_size(device: Device, size: int) -> None:
    limit = device.handle.max_mem_alloc_size
    if size > limit:
        raise CloptError(
            f"A tensor of the model takes {size:,} bytes, but {device} allows {limit:,} in one "
            "buffer; use smaller inputs or another device."
        )
