"""Creation of images for textures, if the device supports their format and extents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import pyopencl as cl

from ...errors import CloptError
from .devices import Device, target_for

# Programs that only use buffers run without xDSL, so these are not imported at run time.
if TYPE_CHECKING:
    from xdsl.dialects.builtin import MemRefType
    from xdsl.ir import Attribute

    from ...dialects import tir
    from ...dialects.cl.kernels import Kernel
    from ...machine.target import Target

_OBJECT_TYPES = {
    "image1d_buffer": cl.mem_object_type.IMAGE1D_BUFFER,
    "image2d": cl.mem_object_type.IMAGE2D,
    "image2d_array": cl.mem_object_type.IMAGE2D_ARRAY,
}
_INTEGERS = {
    (8, False): cl.channel_type.SIGNED_INT8,
    (16, False): cl.channel_type.SIGNED_INT16,
    (32, False): cl.channel_type.SIGNED_INT32,
    (8, True): cl.channel_type.UNSIGNED_INT8,
    (16, True): cl.channel_type.UNSIGNED_INT16,
    (32, True): cl.channel_type.UNSIGNED_INT32,
}


class Images:
    """A factory of the images of one program on one device."""

    def __init__(self, device: Device, context: cl.Context):
        self.device = device
        self.context = context
        self._formats: dict[tuple[tir.ImageKind, int], frozenset[int]] = {}

    def make(
        self,
        type_: Attribute,
        flags: int,
        buffer: cl.Buffer | None = None,
        hostbuf: Any = None,
        pitch: int = 0,
        is_copied: bool = True,
    ) -> cl.Image:
        """Return the image of a texture, over `buffer` or with the contents of `hostbuf` if given.

        `pitch` is the number of bytes from row to row (default: the bytes of a row). If `is_copied`
        is false, the image uses the memory of `hostbuf`. OpenCL has no empty images, so an empty
        texture gets one texel. Raises CloptError if the device does not support such images.
        """
        from ...dialects import tir

        self._check(f"{type_}", type_)
        image = tir.image_of(cast("MemRefType[Attribute]", type_))
        channel = channel_type(image.element_type)
        if channel not in self._supported(image.kind, flags):
            raise CloptError(
                f"{self.device} does not support {image.kind.value} with texels of four "
                f"{image.element_type}; compile with texture=off."
            )
        description = cl.ImageDescriptor()
        description.image_type = _OBJECT_TYPES[image.kind.value]
        description.shape = _three([max(1, extent) for extent in image.extents])
        description.pitches = (pitch, 0)
        description.num_mip_levels = description.num_samples = 0
        description.buffer = buffer
        contents = cl.mem_flags.COPY_HOST_PTR if is_copied else cl.mem_flags.USE_HOST_PTR
        contents = 0 if hostbuf is None else contents
        return cl.Image(
            self.context,
            cast("cl.mem_flags", flags | contents),
            cl.ImageFormat(cl.channel_order.RGBA, channel),
            hostbuf=hostbuf,
            desc=description,
        )

    def check_launch(self, kernel: Kernel) -> None:
        """Raise CloptError if the kernel has more images than the device allows."""
        from xdsl.utils.exceptions import VerifyException

        from ...dialects import tir
        from ...dialects.cl.images import verify_image_arguments

        if any(map(tir.is_texture, kernel.arg_types)):
            try:
                verify_image_arguments(
                    f"The kernel @{kernel.name}",
                    kernel.arg_types,
                    set(kernel.outputs),
                    self._target,
                )
            except VerifyException as error:
                raise CloptError(f"{error}; compile the model for this device.") from error

    @property
    def base_alignment(self) -> int:
        """The alignment in bytes at which a part of a buffer must start."""
        return max(1, self.device.handle.mem_base_addr_align // 8)

    @cached_property
    def _target(self) -> Target:
        return replace(target_for(self.device), name=str(self.device))

    def _check(self, label: str, type_: Attribute) -> None:
        from xdsl.utils.exceptions import VerifyException

        from ...dialects.cl.images import verify_image

        try:
            verify_image(label, type_, self._target)
        except VerifyException as error:
            raise CloptError(f"{error}; compile the model for this device.") from error

    def _supported(self, kind: tir.ImageKind, flags: int) -> frozenset[int]:
        """Return the channel types that RGBA images of a kind support."""
        key = (kind, flags)
        if key not in self._formats:
            formats = cl.get_supported_image_formats(
                self.context, cast("cl.mem_flags", flags), _OBJECT_TYPES[kind.value]
            )
            self._formats[key] = frozenset(
                f.channel_data_type for f in formats if f.channel_order == cl.channel_order.RGBA
            )
        return self._formats[key]


def channel_type(element: Attribute) -> int:
    """Return the channel type of elements of an IR type.

    The IR's storage types are signless and are read as signed integers, as in buffers.
    """
    from xdsl.dialects.builtin import Float16Type, Float32Type, IntegerType, Signedness

    match element:
        case Float16Type():
            return cl.channel_type.HALF_FLOAT
        case Float32Type():
            return cl.channel_type.FLOAT
        case IntegerType():
            return _INTEGERS[element.width.data, element.signedness.data is Signedness.UNSIGNED]
        case _:
            raise ValueError(f"no image format has elements of type {element}")


def copy_options(
    source: Attribute,
    destination: Attribute,
    size: int,
    source_offset: int,
    destination_offset: int,
) -> Mapping[str, Any]:
    """Return the options of `pyopencl.enqueue_copy` for a copy of `size` bytes.

    Between buffers, or images over buffers, the bytes are copied starting at the offsets.
    """
    images = [image for type_ in (source, destination) if (image := _image_object(type_))]
    if not images:
        return {
            "byte_count": size,
            "src_offset": source_offset,
            "dst_offset": destination_offset,
        }
    region = _three(images[0].extents)
    origin = (0, 0, 0)
    if len(images) == 2:
        return {"src_origin": origin, "dest_origin": origin, "region": region}
    # An image has no offset.
    return {"offset": source_offset + destination_offset, "origin": origin, "region": region}


def _three(extents: Sequence[int]) -> tuple[int, int, int]:
    width, height, depth = (*extents, 1, 1)[:3]
    return width, height, depth


def _image_object(type_: Attribute) -> tir.Image | None:
    from ...dialects import tir

    if not tir.is_texture(type_):
        return None
    image = tir.image_of(cast("MemRefType[Attribute]", type_))
    return None if image.kind is tir.ImageKind.Buffer else image
