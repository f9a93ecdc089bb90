"""Turns a queue program into kernel objects with their arguments set and buffers made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyopencl as cl
from xdsl.ir import SSAValue

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

Storage: TypeAlias = "int | cl.Buffer"
"""Where a value lives: the number of a parameter, or a buffer of the program's own."""


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
    """A copy of a whole buffer."""

    source: Storage
    destination: Storage
    bytes: int


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
    buffers: list[cl.Buffer]
    """The program's own buffers: a kernel does not keep its arguments alive."""


def make_plan(
    program: ProgramOp, kernels: Mapping[str, Kernel], weights: Weights, site: Site
) -> Plan:
    """Make the buffers and kernel objects of `program` and upload its constants."""
    places: dict[SSAValue, Storage] = {arg: arg.index for arg in program.body.block.args}
    commands: list[Command] = []
    for op in program.body.block.ops:
        match op:
            case AllocOp():
                places[op.result] = make_buffer(site, byte_count(op.result.type))
            case ConstantOp():
                places[op.result] = _upload(op, weights, site)
            case ViewOp():
                places[op.result] = places[op.source]
            case EnqueueCopyOp():
                source, destination = places[op.source], places[op.destination]
                commands.append(Copy(source, destination, byte_count(op.source.type)))
            case EnqueueKernelOp():
                args = [places[arg] for arg in op.args]
                commands += _launch(kernels[op.kernel_name], args, site)
            case _:
                pass
    return Plan(commands, [place for place in places.values() if isinstance(place, cl.Buffer)])


def make_buffer(site: Site, size: int) -> cl.Buffer:
    """A buffer of `size` bytes; OpenCL has no empty buffers, so an empty tensor gets one byte."""
    _check_size(site.device, size)
    return cl.Buffer(site.context, cl.mem_flags.READ_WRITE, max(1, size))


def _upload(op: ConstantOp, weights: Weights, site: Site) -> cl.Buffer:
    array = np.asarray(weights.get(op.key.data), order="C")
    size = byte_count(op.result.type)
    if array.nbytes != size:
        raise CloptError(
            f'The weight "{op.key.data}" has {array.nbytes} bytes, but {op.result.type} has '
            f"{size}; pass the weights that belong to this module."
        )
    if not size:
        return make_buffer(site, size)
    _check_size(site.device, size)
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    return cl.Buffer(site.context, flags, hostbuf=array)


def _launch(kernel: Kernel, args: list[Storage], site: Site) -> list[Command]:
    """The launch of `kernel`, or nothing where its range is empty."""
    if kernel.global_size is None:
        raise CloptError(
            f"The kernel @{kernel.name} has no global_size; lower the module with the pipeline "
            "opencl before running it."
        )
    if 0 in kernel.global_size:
        return []
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
    return [Launch(handle, kernel.global_size, kernel.local_size, tuple(parameters))]


def _check_size(device: Device, size: int) -> None:
    limit = device.handle.max_mem_alloc_size
    if size > limit:
        raise CloptError(
            f"A tensor of the model takes {size:,} bytes, but {device} allows {limit:,} in one "
            "buffer; use smaller inputs or another device."
        )
