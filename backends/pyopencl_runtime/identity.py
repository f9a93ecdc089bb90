"""Everything that determines the target of a device: what it reports and what was measured."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from ...files.caches import is_private, user_cache
from .build import device_facts
from .devices import Device, family_of, pitch_alignment
from .system import processor

# A fixed list, because for some queries that pyopencl offers PoCL 3.1 returns uninitialised memory.
ANSWERS = (
    "extensions",
    "image2d_max_height",
    "image2d_max_width",
    "image_max_array_size",
    "image_max_buffer_size",
    "image_support",
    "local_mem_size",
    "max_compute_units",
    "max_mem_alloc_size",
    "max_read_image_args",
    "max_work_group_size",
    "max_write_image_args",
    "mem_base_addr_align",
    "single_fp_config",
    "type",
)
"""The device properties on which a target may depend."""

_NVIDIA = ("compute_capability_major_nv", "compute_capability_minor_nv")


def identity_of(device: Device) -> tuple[str, ...]:
    """Return texts that are equal only if `calibration.live_target` returns equal targets.

    They cover more than it reads: the calibration files of all devices of the family.
    """
    return (*device_facts(device), processor(), *_answers(device), *_measured(device))


def _answers(device: Device) -> Iterator[str]:
    handle = device.handle
    names = (*ANSWERS, *(_NVIDIA if "cl_nv_device_attribute_query" in handle.extensions else ()))
    yield from (f"{name} {getattr(handle, name)}" for name in names)
    yield f"pitch {pitch_alignment(device, 1)}"


def _measured(device: Device) -> Iterator[str]:
    folder = user_cache("devices")
    if folder is not None:
        for file in sorted(folder.glob(f"{family_of(device)}-*.toml")):
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            yield f"{file.name} {content} {is_private(file)}"
