"""Builds OpenCL C into programs and keeps the binaries on disk.

Threads do not help: Intel's compiler serves one caller at a time and PoCL compiles a kernel when it
is launched first, for the local size it is launched with. So one program holds every kernel.
"""

# pyopencl's public Program keeps a second cache on disk and warns on stderr about every build log.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pyopencl as cl
from platformdirs import user_cache_dir
from pyopencl import _cl as opencl

from .devices import Device
from .files import write_atomically

BUILD_OPTIONS = ("-cl-std=CL1.2",)
_OPTION_BYTES = " ".join(BUILD_OPTIONS).encode()

# PoCL keeps compiled kernels in its own cache; asking it for a binary compiles them once more.
_OWN_CACHE = ("Portable Computing Language",)

# Entries kept in a cache folder: some tens of megabytes, and a folder that is quickly listed.
_KEPT = 2000

_FORMAT = b"clopt-kernels-1\n"
_DIGEST_BYTES = 32


@dataclass(frozen=True)
class BuiltProgram:
    """Kernels ready to be made, and where they came from."""

    program: cl.Program
    from_cache: bool


def build_program(
    context: cl.Context, device: Device, source: str, cache_folder: Path | None
) -> BuiltProgram:
    """The program of `source` for `device`, from `cache_folder` when it is there.

    A cached file that is damaged or that the driver refuses counts as absent.
    """
    entry = None if cache_folder is None else cache_folder / _entry_name(device, source)
    if device.platform in _OWN_CACHE:
        entry = None
    binary = None if entry is None else _read_entry(entry)
    if binary is not None:
        program = _from_binary(context, device, binary)
        if program is not None:
            return BuiltProgram(cl.Program(program), from_cache=True)
    program = _from_source(context, device, source)
    if entry is not None:
        _write_entry(entry, _binary_of(program, device))
    return BuiltProgram(cl.Program(program), from_cache=False)


def default_cache_folder() -> Path:
    """Where binaries are kept unless the caller says otherwise."""
    return Path(user_cache_dir("clopt")) / "kernels"


def _from_source(context: cl.Context, device: Device, source: str) -> opencl._Program:
    program = opencl._Program(context, source)
    try:
        program._build(_OPTION_BYTES, [device.handle])
    except cl.RuntimeError as error:
        log = program.get_build_info(device.handle, cl.program_build_info.LOG)
        raise RuntimeError(
            f"{device} refuses the OpenCL C that clopt wrote; this is a bug of clopt, please "
            f"report it with this message.\n{error}\n{log}"
        ) from error
    return program


def _from_binary(context: cl.Context, device: Device, binary: bytes) -> opencl._Program | None:
    try:
        program = opencl._Program(context, [device.handle], [binary])
        program._build(_OPTION_BYTES, [device.handle])
    except cl.Error:
        return None
    return program


def _binary_of(program: opencl._Program, device: Device) -> bytes:
    devices = cast("list[cl.Device]", program.get_info(cl.program_info.DEVICES))
    binaries = cast("list[bytes]", program.get_info(cl.program_info.BINARIES))
    return binaries[devices.index(device.handle)]


def _entry_name(device: Device, source: str) -> str:
    """A file name that depends on everything a binary depends on."""
    facts = (
        device.platform,
        device.handle.platform.version,
        device.name,
        device.handle.version,
        device.driver,
        *BUILD_OPTIONS,
        source,
    )
    return hashlib.sha256("\0".join(facts).encode()).hexdigest() + ".bin"


def _read_entry(path: Path) -> bytes | None:
    try:
        content = path.read_bytes()
        os.utime(path)  # used today: the last to be forgotten
    except OSError:
        return None
    header = len(_FORMAT) + _DIGEST_BYTES
    binary = content[header:]
    intact = content[:header] == _FORMAT + hashlib.sha256(binary).digest()
    return binary if intact else None


def _write_entry(path: Path, binary: bytes) -> None:
    # A cache that cannot be written (a full disk, a read-only home) costs time, not correctness.
    with suppress(OSError):
        write_atomically(path, _FORMAT + hashlib.sha256(binary).digest() + binary)
        _forget_oldest(path.parent)


def _forget_oldest(folder: Path) -> None:
    entries = list(folder.glob("*.bin"))
    if len(entries) <= _KEPT:
        return
    entries.sort(key=lambda entry: entry.stat().st_mtime)
    for entry in entries[:-_KEPT]:
        entry.unlink(missing_ok=True)
