"""Builds a model's kernels as fast as the driver allows, and keeps them on disk.

Measured with 24 register-tiled kernels on two cores:
- Threads gain nothing: pyopencl and Intel's compiler serve one caller at a time.
- Intel's compiler takes as long for 24 programs of one kernel as for one program of 24. So each
  kernel is a program of its own, cached on its own, and large models are compiled by helper
  processes.
- PoCL compiles a kernel at its first launch, for that local size, and keeps the result in a cache
  of its own; asking it for binaries compiles everything once more, and slower code. So its kernels
  are one program, which we do not cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyopencl as cl

from ..kernel_source import split_kernels
from .cache import BinaryCache
from .compiler import binary_of, build_options, from_binary, from_source
from .devices import Device
from .workers import compile_in_processes

_OWN_CACHE = ("Portable Computing Language",)
_KERNEL_BY_KERNEL = ("Intel(R) OpenCL",)


@dataclass(frozen=True)
class Build:
    """The program of every kernel, by the kernel's name."""

    programs: Mapping[str, cl.Program]
    from_cache: bool
    """Whether no compiler was called."""


def build_kernels(
    context: cl.Context, device: Device, source: str, names: Sequence[str], cache: BinaryCache
) -> Build:
    """Programs for the kernels `names` of `source`."""
    if keeps_own_binaries(device):
        cache = BinaryCache(None)
    options = build_options(device, source)
    facts = (*device_facts(device), options)
    parts = {"": source}
    if device.platform in _KERNEL_BY_KERNEL:
        kernels = split_kernels(source)
        if kernels.keys() >= set(names):
            parts = {name: kernels[name] for name in names}
    programs = {
        key: program
        for key, text in parts.items()
        if (binary := cache.get((*facts, text))) is not None
        and (program := from_binary(context, device, binary, options)) is not None
    }
    missing = {key: text for key, text in parts.items() if key not in programs}
    if missing:
        for key, program in _compile(context, device, missing, options).items():
            programs[key] = program
            if cache.folder is not None:
                cache.put((*facts, parts[key]), binary_of(program, device))
        cache.trim()
    found = {name: programs[name if name in parts else ""] for name in names}
    return Build(found, from_cache=not missing)


def _compile(
    context: cl.Context, device: Device, sources: Mapping[str, str], options: str
) -> dict[str, cl.Program]:
    """Compile each source, in helper processes if that is faster."""
    programs: dict[str, cl.Program] = {}
    if device.platform in _KERNEL_BY_KERNEL:
        for key, binary in compile_in_processes(device, sources, options).items():
            program = from_binary(context, device, binary, options)
            if program is not None:
                programs[key] = program
    for key, source in sources.items():
        if key not in programs:
            programs[key] = from_source(context, device, source, options)
    return programs


def keeps_own_binaries(device: Device) -> bool:
    """Whether the driver has a better cache than ours."""
    return device.platform in _OWN_CACHE


def device_facts(device: Device) -> tuple[str, ...]:
    """The facts on which a binary depends, besides its source and the options."""
    return (
        device.platform,
        device.handle.platform.version,
        device.name,
        device.version,
        device.driver,
    )
