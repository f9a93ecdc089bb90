"""Verification of a program's images against the shapes and formats of its target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from ...machine.target import Target
from .. import tir

_REMEDY = "give the value another layout, or keep it in a buffer"


def image_of(type_: Attribute) -> tir.Image | None:
    """Return the image of a texture type, or None for a buffer.

    Raises VerifyException if no image has this shape.
    """
    return tir.image_of(cast("MemRefType[Attribute]", type_)) if tir.is_texture(type_) else None


def is_over_buffer(type_: Attribute) -> bool:
    """Return whether a value is a buffer, or an image that is a view of one."""
    image = image_of(type_)
    return image is None or image.kind is tir.ImageKind.Buffer


def image_limits(image: tir.Image, target: Target) -> tuple[int, ...]:
    """Return the largest extents, x first, of images of this kind on `target`."""
    if image.kind is tir.ImageKind.Buffer:
        return (target.device.max_image_buffer_texels,)
    limits = (
        target.device.max_image_width,
        target.device.max_image_height,
        target.device.max_image_layers,
    )
    return limits[: len(image.extents)]


def verify_image(label: str, type_: Attribute, target: Target) -> None:
    """Raise VerifyException for an image that `target` does not support; limits are inclusive."""
    image = image_of(type_)
    if image is None:
        return
    if not target.device.images:
        raise VerifyException(
            f"{label} is an image, but {target.name} does not support images; "
            "compile with texture=off"
        )
    limits = image_limits(image, target)
    if any(size > limit for size, limit in zip(image.extents, limits, strict=True)):
        raise VerifyException(
            f"{label} is an {image.kind.value} of {_product(image.extents)} texels, but "
            f"{target.name} has at most {_product(limits)}; {_REMEDY}"
        )


def verify_image_arguments(
    title: str, types: Sequence[Attribute], written: set[int], target: Target
):
    """Raise VerifyException for a launch with more images than a kernel of `target` may have."""
    images = {i for i, type_ in enumerate(types) if tir.is_texture(type_)}
    for verb, count, limit in (
        ("reads", len(images - written), target.device.max_read_images),
        ("writes", len(images & written), target.device.max_write_images),
    ):
        if count > limit > 0:
            raise VerifyException(
                f"{title} {verb} {count} images, but {target.name} allows at most {limit} "
                "per kernel; "
                "fuse fewer operations, or keep some of the values in buffers"
            )


def _product(extents: Sequence[int]) -> str:
    return " x ".join(map(str, extents))
