"""Discovery and choice of OpenCL devices, and their description as targets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import pyopencl as cl

from ...accelerators import accelerators
from ...errors import CloptError
from ...targets import load_target, target_names, with_facts
from .environment import check_process, environment_of_runtimes
from .pinning import pin_to_cores, running_threads
from .pitch import image_pitch_alignment
from .system import has_avx512

if TYPE_CHECKING:
    from ...machine.facts import Fact
    from ...machine.target import Target

POCL = "Portable Computing Language"
"""The platform of PoCL."""
POCL_AFFINITY = "POCL_AFFINITY"
"""PoCL's own variable for the placement of its threads; what the user sets there holds."""
AVX512_REGISTERS = 32
"""Vector registers of processors with AVX-512; narrower vectors can use all of them, too."""

_NO_DEVICE = (
    "No OpenCL device was found; install Intel's runtime for CPUs with "
    "pip install 'clopt[cpu]', PoCL from your distribution, or the driver of your GPU."
)


@dataclass(frozen=True)
class Device:
    """An OpenCL device with the properties that its user sees."""

    index: int
    handle: cl.Device
    platform: str
    name: str
    driver: str
    kind: str
    """`gpu`, `cpu` or `accelerator`."""

    @property
    def version(self) -> str:
        """The OpenCL version that the device reports."""
        return self.handle.version.strip()

    @property
    def compute_units(self) -> int:
        """The number of work-groups that can run at the same time."""
        return self.handle.max_compute_units

    @property
    def has_rounding_option(self) -> bool:
        """Whether a build option makes division and square root of floats correctly rounded."""
        option = cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
        return bool(self.handle.single_fp_config & option)

    @property
    def rounds_correctly(self) -> bool:
        """Whether division and square root of floats are correctly rounded, given that option."""
        # CPUs divide by IEEE 754 with or without the option.
        return self.kind == "cpu" or self.has_rounding_option

    @property
    def memory_bytes(self) -> int:
        """Bytes of the device's global memory."""
        return self.handle.global_mem_size

    def __str__(self) -> str:
        return f"[{self.index}] {self.name} ({self.kind}, {self.platform}, {self.driver})"

    def answers_to(self, words: str) -> bool:
        """Return whether `words` occurs in the device's, platform's or vendor's name, or kind."""
        names = (self.name, self.platform, self.handle.platform.vendor, self.kind)
        return any(words.lower() in name.lower() for name in names)


@dataclass(frozen=True)
class DeviceName:
    """What a device is called, so that another process finds the same one."""

    platform: str
    name: str
    position: int
    """Its position among the devices with these names."""

    @classmethod
    def of(cls, device: Device) -> DeviceName:
        """Return the name of a device."""
        equal = _named(device.platform, device.name)
        return cls(device.platform, device.name, equal.index(device) if device in equal else 0)

    def find(self) -> Device:
        """Return the device of this process; CloptError if there is none."""
        equal = _named(self.platform, self.name)
        if not equal:
            there = "; ".join(map(str, list_devices())) or "none"
            raise CloptError(
                f"The pickled model runs on {self.name} ({self.platform}), but this process has "
                f"the devices: {there}; compile the model for one of them."
            )
        return equal[min(self.position, len(equal) - 1)]


def _named(platform: str, name: str) -> list[Device]:
    return [each for each in list_devices() if (each.platform, each.name) == (platform, name)]


def list_devices() -> tuple[Device, ...]:
    """Return every usable device once, in the order in which the default is chosen.

    GPUs come first, then CPUs, then other devices; among CPUs, Intel's runtime comes first, then
    PoCL, then others. Ties keep the order of the OpenCL loader. Raises CloptError in a process that
    was forked after its parent had used OpenCL.
    """
    check_process()
    return _listed()


@cache
def _listed() -> tuple[Device, ...]:
    earlier = running_threads()
    with environment_of_runtimes():
        handles = _handles()
    has_pocl = any(handle.platform.name == POCL for handle in handles)
    if has_pocl and POCL_AFFINITY not in os.environ:
        pin_to_cores(running_threads() - earlier)
    handles.sort(key=_rank)
    return tuple(_describe(index, handle) for index, handle in enumerate(handles))


def _handles() -> list[cl.Device]:
    try:
        platforms = cl.get_platforms()
    except cl.LogicError:  # the loader found no platform
        platforms = []
    # A runtime that is registered twice appears as two equal platforms.
    distinct = {(p.name, p.version, p.vendor): p for p in reversed(platforms)}
    return [
        handle
        for platform in reversed(distinct.values())
        for handle in platform.get_devices()
        if handle.available and handle.compiler_available
    ]


def find_device(wanted: str | int | Device | None = None) -> Device:
    """Return the device that `wanted` names by index or part of a name; by default the first."""
    if isinstance(wanted, Device):
        return wanted
    devices = list_devices()
    if not devices:
        raise CloptError(_NO_DEVICE)
    if wanted is None:
        return devices[0]
    text = str(wanted).strip()
    if text.isdecimal():
        matches = [device for device in devices if device.index == int(text)]
    else:
        matches = [device for device in devices if device.answers_to(text)]
    if not matches:
        available = "; ".join(str(device) for device in devices)
        raise CloptError(f'No OpenCL device matches "{text}"; available are: {available}.')
    return matches[0]


def device_of(handle: cl.Device) -> Device:
    """Return the listed device of a pyopencl object, or a new one if it is not listed."""
    for device in list_devices():
        if device.handle == handle:
            return device
    return _describe(_NOT_LISTED, handle)


def target_for(device: Device, family: Target | None = None) -> Target:
    """Return the target of `device`: the facts of `family`, updated with those that it reports.

    By default, the family is the one that the device is known to belong to.
    """
    handle = device.handle
    extensions = handle.extensions.split()
    images = bool(handle.image_support)
    pitch = pitch_alignment(device, _TEXEL_BYTES)
    if family is None:
        family = load_target(family_of(device))
        if family.device.device_type == "cpu" and has_avx512():
            family = family.with_facts({"vector_registers": AVX512_REGISTERS})
    reported: dict[str, Fact] = dict(
        compute_units=max(1, handle.max_compute_units),
        max_alloc_bytes=handle.max_mem_alloc_size,
        max_work_group_size=max(1, handle.max_work_group_size),
        local_memory_bytes=max(1, handle.local_mem_size),
        dot_product=_dot_product(device, family),
        fp16="cl_khr_fp16" in extensions,
        fp64="cl_khr_fp64" in extensions,
        correctly_rounded_division=device.rounds_correctly,
        images=images,
        max_image_width=handle.image2d_max_width if images else 0,
        max_image_height=handle.image2d_max_height if images else 0,
        max_image_layers=handle.image_max_array_size if images else 0,
        max_image_buffer_texels=handle.image_max_buffer_size if images else 0,
        max_read_images=handle.max_read_image_args if images else 0,
        max_write_images=handle.max_write_image_args if images else 0,
        read_imageh=images and "cl_khr_fp16" in extensions,
        image1d_buffer=images,  # mandatory for image support in OpenCL 1.2
        image_from_buffer=images and pitch > 0,
        image_pitch_alignment_bytes=pitch,
        image_base_alignment_bytes=max(
            family.device.image_base_alignment_bytes, handle.mem_base_addr_align // 8
        ),
    )
    for row in accelerators().values():
        if row.runtime:
            reported |= row.load("runtime")().facts(device)
    return with_facts(family, reported)


def has_dots(device: Device, way: str) -> bool:
    """Return whether kernels of a GPU can use `way`, a value of the fact `dot_product`."""
    handle = device.handle
    extensions = handle.extensions.split()
    if way == "khr":
        return "cl_khr_integer_dot_product" in extensions
    if way == "ptx" and "cl_nv_device_attribute_query" in extensions:
        capability = handle.compute_capability_major_nv, handle.compute_capability_minor_nv
        return capability >= _DP4A
    return False


_DP4A = 6, 1
"""Least compute capability of NVIDIA devices with the instruction dp4a (PTX ISA)."""


def _dot_product(device: Device, family: Target) -> str:
    """Return the family's `dot_product`, or `off` if the device does not support it."""
    way = family.compiler.dot_product
    return way if way not in ("ptx", "khr") or has_dots(device, way) else "off"


def pitch_alignment(device: Device, texel_bytes: int) -> int:
    """Return the alignment in bytes of row pitches of images over buffers, 0 if unsupported.

    OpenCL defines the value in texels (API specification, CL_DEVICE_IMAGE_PITCH_ALIGNMENT), but
    some drivers report bytes.
    """
    if "cl_khr_image2d_from_buffer" not in device.handle.extensions.split():
        return 0
    family = family_of(device)
    in_bytes = any(family.startswith(name) for name in _PITCH_IN_BYTES)
    return image_pitch_alignment(device.handle) * (1 if in_bytes else texel_bytes)


_NOT_LISTED = -1
_TEXEL_BYTES = 16  # bytes of the largest texel (4 floats), so that a target's pitches suit all


def _adreno_models() -> list[tuple[str, str, str]]:
    """Return rows for targets such as `adreno-740`, followed by families such as `adreno-7xx`."""
    prefix = "adreno-"
    models = [name.removeprefix(prefix) for name in target_names() if name.startswith(prefix)]
    models.sort(key=lambda model: "xx" in model)
    return [("gpu", rf"adreno.* {m.replace('xx', '..')}\b", prefix + m) for m in models]


def _families() -> Iterator[tuple[str, str, str]]:
    """Yield (kind of device, pattern for its platform, name or version, target) rows.

    The first row that matches a device decides.
    """
    yield ("cpu", r"portable computing language", "pocl")
    yield ("cpu", r"intel\(r\) opencl", "intel-cpu")
    yield ("gpu", r"nvidia", "nvidia")
    yield from _adreno_models()
    yield ("gpu", r"adreno", "adreno")
    yield ("gpu", r"", "generic-gpu")
    yield ("", r"", "generic")


# Families whose drivers report the pitch alignment in bytes.
_PITCH_IN_BYTES = ("adreno", "intel-cpu")

# The order in which the default device is chosen; other platforms come last.
_KINDS = ("gpu", "cpu")
_CPU_FAMILIES = ("intel-cpu", "pocl")


def _describe(index: int, handle: cl.Device) -> Device:
    return Device(
        index,
        handle,
        handle.platform.name.strip(),
        handle.name.strip(),
        handle.driver_version.strip(),
        _kind(handle),
    )


def _kind(handle: cl.Device) -> str:
    if handle.type & cl.device_type.GPU:
        return "gpu"
    return "cpu" if handle.type & cl.device_type.CPU else "accelerator"


def family_of(device: Device) -> str:
    """Return the name of the target that describes devices like this one."""
    handle = device.handle
    text = f"{device.platform} {handle.platform.vendor} {device.name} {handle.version}".lower()
    return next(
        target
        for kind, pattern, target in _families()
        if kind in ("", device.kind) and re.search(pattern, text)
    )


def _rank(handle: cl.Device) -> tuple[int, int]:
    device = _describe(_NOT_LISTED, handle)
    return _place(_KINDS, device.kind), _place(_CPU_FAMILIES, family_of(device))


def _place(order: tuple[str, ...], name: str) -> int:
    return order.index(name) if name in order else len(order)
