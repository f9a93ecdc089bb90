"""A buffer and the kernel arguments made from it: parts of its bytes, and images over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pyopencl as cl

from ...errors import CloptError
from .devices import Device

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from .images import Images

HostMemory: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"

_ACCESS = cl.mem_flags.READ_WRITE | cl.mem_flags.READ_ONLY | cl.mem_flags.WRITE_ONLY
_PAGE_BYTES = 4096
_TEXEL_BYTES = 16


class BufferMemory:
    """A buffer that holds values.

    If the buffer is over `host` memory, an image over a part of it uses that part of the host
    memory directly. Parts and images are created once and live as long as this object.
    """

    def __init__(
        self, buffer: cl.Buffer, images: Images, size: int, host: HostMemory | None = None
    ):
        """Wrap `buffer`, of which `size` bytes are in use."""
        self.buffer = buffer
        self.size = size
        self._images = images
        self._host = host
        # OpenCL cannot divide a sub-buffer again, and the caller's buffer may be one.
        self._parent, self._start = whole_of(buffer)
        self._parts: dict[int, cl.Buffer] = {}
        self._views: dict[tuple[int, Attribute], cl.Image] = {}

    def __del__(self) -> None:
        # NVIDIA's driver (580.159) crashes if a part is released before another part inside it.
        views, parts = getattr(self, "_views", {}), getattr(self, "_parts", {})
        views.clear()
        for offset in sorted(parts, reverse=True):
            del parts[offset]

    @property
    def root(self) -> int:
        """A number that is equal for all buffers that may share bytes with this one."""
        return self._parent.int_ptr

    def argument(self, type_: Attribute, offset: int) -> cl.Buffer | cl.Image:
        """Return the kernel argument for a value (not a 2-D image) at a byte of this memory."""
        from ...dialects.cl.images import image_of
        from ...dialects.cl.ops import byte_count

        size = byte_count(type_)
        if image_of(type_) is None:
            return self.part(offset, size)
        if (offset, type_) not in self._views:
            buffer = self.part(offset, size)
            if self._host is not None and buffer is not self.buffer:
                # A separate buffer, because PoCL cannot create images over sub-buffers.
                flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
                buffer = cl.Buffer(
                    self._images.context, flags, hostbuf=self._host[offset : offset + size]
                )
            access = self._parent.flags & _ACCESS or cl.mem_flags.READ_WRITE
            try:
                self._views.setdefault((offset, type_), self._images.make(type_, access, buffer))
            except cl.Error as error:
                raise CloptError(
                    f"{self._images.device} cannot create {type_} over a part of a buffer; "
                    "compile with texture=off."
                ) from error
        return self._views[offset, type_]

    def image(self, type_: Attribute, offset: int, pitch: int) -> cl.Image:
        """Return the 2-D image of a texture at a byte of this memory; `pitch` is in bytes."""
        from ...dialects.cl.images import image_of

        image = image_of(type_)
        assert image is not None, "the type must be a texture"
        size = pitch * image.height
        flags = cl.mem_flags.READ_WRITE
        if self._host is None:
            return self._images.make(type_, flags, self.part(offset, size), pitch=pitch)
        rows = self._host[offset : offset + size]
        return self._images.make(type_, flags, hostbuf=rows, pitch=pitch, is_copied=False)

    def part(self, offset: int, size: int) -> cl.Buffer:
        """Return the kernel argument for `size` bytes of this memory that are not an image."""
        # OpenCL has no empty sub-buffers; kernels never read the bytes that an empty tensor gets.
        if size == 0 or offset == 0:
            return self.buffer
        if offset not in self._parts:
            # A part extends to the end of the memory, so that one of any two contains the other:
            # NVIDIA's driver crashes when it releases parts that overlap partially.
            start, count = self._start + offset, self.size - offset
            try:
                # Of two programs that share this memory, one may get the other's part.
                self._parts.setdefault(offset, self._parent.get_sub_region(start, count))
            except cl.Error as error:
                raise CloptError(
                    f"{self._images.device} cannot start a sub-buffer at byte {start}, only at "
                    f"multiples of {self._images.base_alignment}; compile the model for this "
                    "device."
                ) from error
        return self._parts[offset]


def whole_of(buffer: cl.Buffer) -> tuple[cl.Buffer, int]:
    """Return the parent of a sub-buffer and its byte offset; a whole buffer is its own parent."""
    parent = cast("cl.Buffer | None", buffer.get_info(cl.mem_info.ASSOCIATED_MEMOBJECT))
    return (buffer, 0) if parent is None else (parent, buffer.offset)


def make_memory(images: Images, size: int, on_host: bool = False) -> BufferMemory:
    """Allocate `size` bytes; `on_host` uses page-aligned host memory.

    OpenCL has no empty buffers and images, so empty memory gets the size of one texel.
    """
    count = max(size, _TEXEL_BYTES)
    check_size(images.device, count)
    if not on_host:
        return BufferMemory(cl.Buffer(images.context, cl.mem_flags.READ_WRITE, count), images, size)
    host = _pages(count)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    return BufferMemory(cl.Buffer(images.context, flags, hostbuf=host), images, size, host)


def check_size(device: Device, size: int) -> None:
    """Raise CloptError if `size` exceeds the device's limit for one buffer."""
    limit = device.handle.max_mem_alloc_size
    if size > limit:
        raise CloptError(
            f"The model needs a buffer or image of {size:,} bytes, but {device} allows {limit:,}; "
            "compile it for this device, or use smaller inputs or another device."
        )


def _pages(size: int) -> HostMemory:
    """Return `size` bytes of page-aligned host memory."""
    memory = np.empty(size + _PAGE_BYTES, np.uint8)
    start = -memory.ctypes.data % _PAGE_BYTES
    return memory[start : start + size]
