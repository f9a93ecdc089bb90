"""The calls of the driver's compiler: source to program, program to binary and back."""

# pyopencl's public Program keeps a second cache on disk and warns on stderr about every build log.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import cast

import pyopencl as cl
from pyopencl import _cl as opencl

from ..kernel_source import ROUNDING_OPTION, Feature, features_of
from .devices import Device


def build_options(device: Device, source: str) -> str:
    """The options for building `source`, or any of its kernels."""
    features = features_of(source)
    # OpenCL C 1.2 has no functions of the extension.
    standard = "-cl-std=CL3.0" if Feature.DOTS in features else "-cl-std=CL1.2"
    rounded = Feature.ROUNDING in features and device.has_rounding_option
    return f"{standard} {ROUNDING_OPTION}" if rounded else standard


def from_source(context: cl.Context, device: Device, source: str, options: str) -> cl.Program:
    """Compile `source`; a refusal is a bug of clopt and says so."""
    program = opencl._Program(context, source)
    try:
        program._build(options.encode(), [device.handle])
    except cl.RuntimeError as error:
        log = program.get_build_info(device.handle, cl.program_build_info.LOG)
        raise RuntimeError(
            f"{device} refuses the OpenCL C that clopt wrote; this is a bug of clopt, please "
            f"report it with this message.\n{error}\n{log}"
        ) from error
    return cl.Program(program)


def from_binary(
    context: cl.Context, device: Device, binary: bytes, options: str
) -> cl.Program | None:
    """The program of a binary, or None if the driver refuses it."""
    try:
        program = opencl._Program(context, [device.handle], [binary])
        program._build(options.encode(), [device.handle])
    except cl.Error:
        return None
    return cl.Program(program)


def binary_of(program: cl.Program, device: Device) -> bytes:
    """The compiled form of `program` for `device`."""
    devices = cast("list[cl.Device]", program.get_info(cl.program_info.DEVICES))
    binaries = cast("list[bytes]", program.get_info(cl.program_info.BINARIES))
    return binaries[devices.index(device.handle)]
