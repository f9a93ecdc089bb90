"""What the OpenCL API reports about a device: limits and abilities."""

from __future__ import annotations

from dataclasses import dataclass

from .facts import FactTable, fact


@dataclass(frozen=True)
class DeviceFacts(FactTable):
    """Limits and abilities that the OpenCL API reports."""

    device_type: str = fact("cpu", choices=("cpu", "gpu"))
    """`cpu` or `gpu`: which family of schedules is used."""
    compute_units: int = fact(2, "work-groups", least=1)
    """Work-groups that run at the same time."""
    max_alloc_bytes: int = fact(0, "bytes")
    """Bytes of the largest buffer, 0 where unknown: larger arenas become several."""
    max_work_group_size: int = fact(1024, "work-items", least=1)
    """Work-items of the largest group."""
    local_memory_bytes: int = fact(32768, "bytes", least=1)
    """Local memory of one work-group; what a CPU reports is cache and not worth tiling for."""
    fp16: bool = fact(False)
    """Whether kernels may compute in `half` (storing it works everywhere)."""
    fp64: bool = fact(True)
    """Whether kernels may compute in `double`."""
    correctly_rounded_division: bool = fact(True)
    """Whether `/` and `sqrt` of floats are rounded correctly, by nature as on CPUs or by a build
    option of OpenCL. Elsewhere kernels correct the last bits where a result depends on them."""
    sub_buffers: bool = fact(True)
    """Whether values may be parts of a larger buffer."""
    images: bool = fact(False)
    """Whether kernels may read and write images."""
    image1d_buffer: bool = fact(False)
    """Whether an `image1d_buffer_t` can be a view of a buffer."""
    image_from_buffer: bool = fact(False)
    """Whether a 2-D image can be a view of a buffer."""
    image_pitch_alignment_bytes: int = fact(0, "bytes", most=1 << 20)
    """The row pitch of such a view is a multiple of this many bytes, whatever its texels are; 0
    without such views."""
    image_base_alignment_bytes: int = fact(128, "bytes", least=1, most=1 << 20, power_of_two=True)
    """A view of a buffer, image or sub-buffer, starts at a multiple of this many bytes."""
    read_imageh: bool = fact(False)
    """Whether `read_imageh` and `write_imageh` exist, as cl_khr_fp16 says they do."""
    max_image_width: int = fact(0, "texels")
    """Texels of a row of a 2-D image, or of an array of such; 0 without images, as below."""
    max_image_height: int = fact(0, "texels")
    """Rows of a 2-D image."""
    max_image_layers: int = fact(0, "images")
    """Images of an array."""
    max_image_buffer_texels: int = fact(0, "texels")
    """Texels of an `image1d_buffer_t`."""
    max_read_images: int = fact(0, "images")
    """Image arguments that a kernel can read."""
    max_write_images: int = fact(0, "images")
    """Image arguments that a kernel can write."""
