"""What the OpenCL API reports about a device: limits and abilities."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import FactTable, fact


@dataclass(frozen=True)
class DeviceFacts(FactTable):
    """Limits and abilities that the OpenCL API reports."""

    device_type: str = fact("cpu", choices=("cpu", "gpu"))
    """`cpu` or `gpu`: the family of schedules that is used."""
    compute_units: int = fact(2, "work-groups", least=1)
    """Work-groups that run at the same time."""
    max_alloc_bytes: int = fact(0, "bytes")
    """Size of the largest buffer, 0 if unknown. A larger arena is split into several buffers."""
    max_work_group_size: int = fact(1024, "work-items", least=1)
    """Maximum work-items of a work-group."""
    local_memory_bytes: int = fact(32768, "bytes", least=1)
    """Local memory of one work-group. CPUs report ordinary cached memory, so schedules do not tile
    for it there."""
    fp16: bool = fact(False)
    """Whether kernels may compute in `half`; every device can store it."""
    fp64: bool = fact(True)
    """Whether kernels may compute in `double`."""
    correctly_rounded_division: bool = fact(True)
    """Whether float `/` and `sqrt` are correctly rounded, natively as on CPUs or by an OpenCL build
    option. On other devices kernels correct the last bits where a result depends on them."""
    sub_buffers: bool = fact(True)
    """Whether a value may be a part of a larger buffer."""
    images: bool = fact(False)
    """Whether kernels may read and write images."""
    image1d_buffer: bool = fact(False)
    """Whether an `image1d_buffer_t` can be a view of a buffer."""
    image_from_buffer: bool = fact(False)
    """Whether a 2-D image can be a view of a buffer."""
    image_pitch_alignment_bytes: int = fact(0, "bytes", most=1 << 20)
    """Alignment of the row pitch of such a view, the same for all texel sizes; 0 without such
    views."""
    image_base_alignment_bytes: int = fact(128, "bytes", least=1, most=1 << 20, power_of_two=True)
    """Alignment of a view (an image or a sub-buffer) within its buffer."""
    read_imageh: bool = fact(False)
    """Whether `read_imageh` and `write_imageh` exist, which cl_khr_fp16 promises."""
    max_image_width: int = fact(0, "texels")
    """Maximum texels in a row of a 2-D image or 2-D image array. This limit and those below are 0
    without images."""
    max_image_height: int = fact(0, "texels")
    """Maximum rows of a 2-D image."""
    max_image_layers: int = fact(0, "images")
    """Maximum images of an array."""
    max_image_buffer_texels: int = fact(0, "texels")
    """Maximum texels of an `image1d_buffer_t`."""
    max_read_images: int = fact(0, "images")
    """Maximum image arguments that a kernel reads."""
    max_write_images: int = fact(0, "images")
    """Maximum image arguments that a kernel writes."""
