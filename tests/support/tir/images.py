"""Images of the interpreter: arrays of a texture's physical shape, with strict rules."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from clopt.dialects import tir
from clopt.dialects.cl import Target


def _texel(buffer: np.ndarray, extents: tuple[int, ...], coords: tuple[int, ...]) -> Any:
    """The four elements at `coords`, x first, which have to be inside."""
    for i, n in zip(coords, extents, strict=True):
        if not 0 <= i < n:
            raise IndexError(f"{coords} is outside of an image of {extents}")
    texels = buffer.reshape((*extents[::-1], tir.TEXEL), copy=False)
    return texels[coords[::-1]]


def texel_read(
    buffer: np.ndarray, extents: tuple[int, ...], coords: tuple[int, ...], lane: int, border: bool
) -> Any:
    """An element of a texel; beyond the border of an image it is zero."""
    if not 0 <= lane < tir.TEXEL:
        raise IndexError(f"lane {lane} of a texel")
    if border and any(not 0 <= i < n for i, n in zip(coords, extents, strict=True)):
        return buffer.dtype.type(0)
    return _texel(buffer, extents, coords)[lane]


def texel_write(
    buffer: np.ndarray,
    extents: tuple[int, ...],
    coords: tuple[int, ...],
    lane: int,
    value: Any,
    lanes: dict[tuple[Any, ...], set[int]],
) -> None:
    """Write an element of a texel, and note in `lanes` which of the texel's have been written."""
    if not 0 <= lane < tir.TEXEL:
        raise IndexError(f"lane {lane} of a texel")
    assert np.asarray(value).dtype == buffer.dtype, "type of a store"
    _texel(buffer, extents, coords)[lane] = value
    lanes.setdefault((id(buffer), *coords), set()).add(lane)


def check_image(param: SSAValue, limits: Target | None) -> None:
    """A texture is read or written, and within the limits."""
    if not tir.is_texture(param.type):
        return
    used = {type(use.operation) for use in param.uses}
    written = bool(used & {memref.StoreOp, tir.TexelWriteOp})
    assert not (written and used & {memref.LoadOp, tir.TexelReadOp}), "an image is read or written"
    if limits is not None:
        assert isinstance(param.type, MemRefType)
        image = tir.image_of(param.type)
        most = (
            limits.device.max_image_width,
            limits.device.max_image_height,
            limits.device.max_image_layers,
        )
        if image.kind is tir.ImageKind.Buffer:
            most = (limits.device.max_image_buffer_texels,)
        assert all(n <= m for n, m in zip(image.extents, most, strict=False)), "limits of images"
