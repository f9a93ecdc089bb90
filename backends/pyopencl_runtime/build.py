"""Builds a model's kernels as fast as the driver allows, and caches them on disk.

Measured with 24 register-tiled kernels on two cores:
- Threads do not help: pyopencl and Intel's compiler serve one caller at a time.
- Intel's compiler takes as long for 24 programs of one kernel as for one program of 24 kernels. So
  each kernel is a program of its own with its own cache entry, and helper processes share the
  kernels of large models.
- PoCL compiles a kernel at its first launch, for that local size, and keeps the result in its own
  cache. Asking PoCL for binaries compiles everything again, into slower code. So its kernels form
  one program, which we do not cache: one program per kernel takes six times as long, because PoCL
  links its library with each. We launch each kernel once, and helpers launch some of a large model.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyopencl as cl

from ...messages.stages import stage
from ..kernel_source import split_kernels
from .cache import BinaryCache
from .compiler import binary_of, build_options, from_binary, from_source, load_compiler
from .devices import POCL, Device, find_device
from .environment import pocl_cache
from .workers import answer_jobs, share_work

if TYPE_CHECKING:
    from ...dialects.cl.kernels import Kernel

_OWN_CACHE = (POCL,)
_KERNEL_BY_KERNEL = ("Intel(R) OpenCL",)

_log = logging.getLogger(__name__)

# Content of our cache entry for a source whose kernels the driver compiled and keeps in its own
# cache.
_IN_OWN_CACHE = b"launched"


@dataclass(frozen=True)
class Build:
    """The built program of every kernel, by the kernel's name."""

    programs: Mapping[str, cl.Program]
    from_cache: bool
    """Whether all programs came from the cache, so that no compiler was called."""


def build_kernels(
    context: cl.Context,
    device: Device,
    source: str,
    names: Sequence[str],
    cache: BinaryCache,
    launched: Iterable[Kernel] = (),
) -> Build:
    """Build the kernels `names` of `source` and return their programs.

    With drivers that compile at the first launch, the kernels in `launched` are compiled now if
    that saves time.
    """
    options = build_options(device, source)
    facts = (*device_facts(device), options)
    if keeps_own_binaries(device):
        key = (*facts, pocl_cache(), source)
        if cache.get(key) is not None:
            _log.debug("%s has compiled these %d kernels before", device, len(names))
            program = from_source(context, device, source, options)
        else:
            from .first_launch import compile_by_launching  # needs xDSL

            with stage(_log, _building(len(names), device)):
                program, any_ran = compile_by_launching(context, device, source, options, launched)
            if any_ran:
                cache.put(key, _IN_OWN_CACHE)
                cache.trim()
        return Build(dict.fromkeys(names, program), from_cache=False)
    parts = {"": source}
    if compiles_kernel_by_kernel(device):
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
    if programs:
        _log.debug("the cache of kernels has %d of %d programs", len(programs), len(parts))
    if missing:
        with stage(_log, _building(len(missing) if "" not in missing else len(names), device)):
            compiled = _compile(context, device, missing, options)
        for key, program in compiled.items():
            programs[key] = program
            if cache.folder is not None:
                cache.put((*facts, parts[key]), binary_of(program, device))
        cache.trim()
    by_kernel = {name: programs[name if name in parts else ""] for name in names}
    return Build(by_kernel, from_cache=not missing)


def _building(count: int, device: Device) -> str:
    return f"building {count} kernel{'' if count == 1 else 's'} for {device}"


def _compile(
    context: cl.Context, device: Device, sources: Mapping[str, str], options: str
) -> dict[str, cl.Program]:
    """Compile each source, with the help of other processes if that is faster."""
    programs: dict[str, cl.Program] = {}

    def compile_here(key: str) -> None:
        programs[key] = from_source(context, device, sources[key], options)

    if compiles_kernel_by_kernel(device) and device.index >= 0:
        binaries = share_work(
            sources,
            compiling_helper(device),
            compile_here,
            lambda key: sources[key].encode(),
            options.encode,
        )
        for key, binary in binaries.items():
            program = from_binary(context, device, binary, options)
            if program is not None:
                programs[key] = program
    for key in sources:
        if key not in programs:
            compile_here(key)
    return programs


def compiling_helper(device: Device) -> str:
    """Return the Python of a helper process that compiles for a device."""
    return f"from {__name__} import help_compiling; help_compiling({device.index})"


def help_compiling(index: int) -> None:
    """Run as a helper process: its jobs are sources, its answers are binaries."""
    device = find_device(index)
    context = cl.Context([device.handle])
    load_compiler(device, context)

    def prepare(options: bytes) -> Callable[[bytes], bytes]:
        def compile_source(source: bytes) -> bytes:
            program = from_source(context, device, source.decode(), options.decode())
            return binary_of(program, device)

        return compile_source

    answer_jobs(prepare)


def compiles_kernel_by_kernel(device: Device) -> bool:
    """Return whether each kernel is a program of its own, which helpers compile."""
    return device.platform in _KERNEL_BY_KERNEL


def keeps_own_binaries(device: Device) -> bool:
    """Return whether the driver caches compiled kernels itself."""
    return device.platform in _OWN_CACHE


def device_facts(device: Device) -> tuple[str, ...]:
    """Return the device facts on which a binary depends, besides its source and options."""
    return (
        device.platform,
        device.handle.platform.version,
        device.name,
        device.version,
        device.driver,
    )
