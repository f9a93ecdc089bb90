"""Calls of the driver's compiler: source to program, program to binary, and binary to program."""

# The private class is used because pyopencl's public Program keeps a second cache on disk and warns
# on stderr about every build log.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import time
from contextlib import suppress
from typing import cast

import pyopencl as cl
from pyopencl import _cl as opencl

from ...errors import CloptError
from ..kernel_source import ROUNDING_OPTION, Feature, features_of, standard_of
from .declared_functions import WITHOUT_HEADER, with_declarations
from .devices import POCL, Device

_PARSES_HEADER = (POCL,)


def build_options(device: Device, source: str) -> str:
    """Return the options for building `source`, or any of its kernels."""
    standard = f"-cl-std={standard_of(source)}"
    rounded = Feature.ROUNDING in features_of(source) and device.has_rounding_option
    return f"{standard} {ROUNDING_OPTION}" if rounded else standard


def from_source(context: cl.Context, device: Device, source: str, options: str) -> cl.Program:
    """Compile `source`; raise RuntimeError if the driver rejects it, which is a bug of clopt."""
    if device.platform in _PARSES_HEADER and (text := with_declarations(source)) is not None:
        program = opencl._Program(context, text)
        # Another version may declare these functions otherwise; then the header is parsed.
        with suppress(cl.RuntimeError):
            program._build(f"{options} {WITHOUT_HEADER}".encode(), [device.handle])
            return cl.Program(program)
    program = opencl._Program(context, source)
    try:
        program._build(options.encode(), [device.handle])
    except cl.RuntimeError as error:
        log = program.get_build_info(device.handle, cl.program_build_info.LOG)
        raise RuntimeError(
            f"{device} rejects the OpenCL C that clopt generated; this is a bug of clopt, please "
            f"report it with this message.\n{error}\n{log}"
        ) from error
    return cl.Program(program)


def load_compiler(device: Device, context: cl.Context) -> None:
    """Have the driver load its compiler and its library: 0.1 s on Intel's runtime, 0.4 on PoCL."""
    # The name is new, so that no cache of a driver has the program.
    name = f"clopt_{time.time_ns()}"
    from_source(context, device, f"__kernel void {name}(__global float *x) {{ x[0] = 1; }}\n", "")


def from_binary(
    context: cl.Context, device: Device, binary: bytes, options: str
) -> cl.Program | None:
    """Return the program of a binary, or None if the driver rejects it."""
    try:
        program = opencl._Program(context, [device.handle], [binary])
        program._build(options.encode(), [device.handle])
    except cl.Error:
        return None
    return cl.Program(program)


def given_program(context: cl.Context, device: Device, binary: bytes, what: str) -> cl.Program:
    """Return the program of a user's binary `what`; raise CloptError if it is rejected."""
    program = from_binary(context, device, binary, "")
    if program is None:
        raise CloptError(f"{device} rejects {what}: it was built for another device.")
    return program


def kernel_of_binary(program: cl.Program, name: str, arguments: int) -> cl.Kernel:
    """Return a kernel of a user's program; raise CloptError if its parameter count differs."""
    try:
        kernel = cl.Kernel(program, name)
    except cl.Error as error:
        raise CloptError(f'The program binary has no kernel "{name}".') from error
    if kernel.num_args != arguments:
        raise CloptError(
            f"The kernel {name} of the program binary has {kernel.num_args} parameters, but its "
            f"target names {arguments}."
        )
    return kernel


def binary_of(program: cl.Program, device: Device) -> bytes:
    """Return the compiled form of `program` for `device`."""
    devices = cast("list[cl.Device]", program.get_info(cl.program_info.DEVICES))
    binaries = cast("list[bytes]", program.get_info(cl.program_info.BINARIES))
    return binaries[devices.index(device.handle)]
