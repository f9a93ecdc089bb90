"""Textures: the mapping from indices of a memref to coordinates of a texel in its image.

The last axis of a memref in the texture scope is the texel: four elements, which one read or write
moves together. The separators of its scope divide the other axes into groups; the axes of a group,
in row-major order, are one coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from math import prod

from xdsl.dialects.builtin import Float16Type, Float32Type, IntegerType, MemRefType
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineExpr
from xdsl.utils.exceptions import VerifyException

from ...machine.target import TEXEL
from .attributes import Scope, ScopeAttr


class ImageKind(Enum):
    """OpenCL's image types, by the number of their coordinates."""

    Buffer = "image1d_buffer"
    Image2D = "image2d"
    Array2D = "image2d_array"


_KINDS = (ImageKind.Buffer, ImageKind.Image2D, ImageKind.Array2D)


@dataclass(frozen=True)
class Image:
    """The image that stores a texture, with extents in texels."""

    kind: ImageKind
    element_type: Attribute
    width: int
    height: int = 1
    layers: int = 1

    @property
    def extents(self) -> tuple[int, ...]:
        """Return the extent of each coordinate, x first."""
        return (self.width, self.height, self.layers)[: 1 + _KINDS.index(self.kind)]

    @property
    def texels(self) -> int:
        """Return the number of texels."""
        return self.width * self.height * self.layers


def is_texel_type(element_type: Attribute) -> bool:
    """Return whether an image format stores four elements of this type without changing them.

    Integers need integer formats, as a float format may change their bits. No format has 64 bits.
    """
    match element_type:
        case Float16Type() | Float32Type():
            return True
        case IntegerType():
            return element_type.width.data in (8, 16, 32)
        case _:
            return False


def is_texture(type_: Attribute) -> bool:
    """Return whether a memref is in the texture scope."""
    return (
        isinstance(type_, MemRefType)
        and isinstance(type_.memory_space, ScopeAttr)
        and type_.memory_space.scope is Scope.Texture
    )


def image_of(type_: MemRefType[Attribute]) -> Image:
    """Return the image of a texture; raise VerifyException if no image has this shape."""
    groups = _groups(type_)
    shape = type_.get_shape()
    if shape[-1] != TEXEL:
        raise VerifyException(f"the last axis of a texture must have {TEXEL} elements: {type_}")
    if not is_texel_type(type_.element_type):
        raise VerifyException(f"no image format has elements of type {type_.element_type}")
    extents = [prod(shape[axis] for axis in group) for group in reversed(groups)]
    return Image(_KINDS[len(groups) - 1], type_.element_type, *extents)


def coordinates(
    type_: MemRefType[Attribute], indices: Sequence[AffineExpr]
) -> tuple[AffineExpr, ...]:
    """Return the coordinates of the texel that contains the element at `indices`, x first."""
    shape = type_.get_shape()
    coordinates: list[AffineExpr] = []
    for group in reversed(_groups(type_)):
        position: AffineExpr = AffineExpr.constant(0)
        for axis in group:
            position = position * shape[axis] + indices[axis]
        coordinates.append(position)
    return tuple(coordinates)


def _groups(type_: MemRefType[Attribute]) -> list[range]:
    """Return the axes of each coordinate, slowest first."""
    space = type_.memory_space
    if not isinstance(space, ScopeAttr) or space.scope is not Scope.Texture:
        raise VerifyException(f"{type_} is not a texture")
    last = len(type_.get_shape()) - 1
    cuts = (0, *space.separators, last)
    if any(a >= b for a, b in pairwise(cuts)):
        raise VerifyException(
            f"separators {list(space.separators)} must divide the {last} axes before the texel"
        )
    return [range(a, b) for a, b in pairwise(cuts)]
