"""Images that the caller binds as inputs and outputs, and the contents of such images in numpy."""

from __future__ import annotations

import numpy as np
import pyopencl as cl

from ...errors import CloptError
from ...tensor_info import TensorInfo
from .inputs import Array

_TEXEL = 4  # elements: images are RGBA

_CHANNELS = {
    cl.channel_type.FLOAT: "CL_FLOAT",
    cl.channel_type.HALF_FLOAT: "CL_HALF_FLOAT",
    cl.channel_type.UNORM_INT8: "CL_UNORM_INT8",
}
"""The channel types that `read_imagef` and `write_imagef` convert as users expect."""


def check_image(port: TensorInfo, image: object, is_output: bool, context: cl.Context) -> cl.Image:
    """The image as that of `port`; CloptError for another object, or one that does not fit."""
    what = f'"{port.name}"'
    if not isinstance(image, cl.Image):
        raise CloptError(
            f"{what} is compiled to be an image, not {type(image).__name__}; bind a "
            "pyopencl.Image, or compile without it in images."
        )
    if image.context != context:
        raise CloptError(f"The image for {what} belongs to another context than the program.")
    assert port.image is not None, "a port that takes an image"
    given = image.width, image.height
    if image.type != cl.mem_object_type.IMAGE2D or given != port.image:
        raise CloptError(
            f"The image for {what} is {_product(given)}; a 2-D image of "
            f"{_product(port.image)} texels is needed."
        )
    _check_format(port, image.format)
    wrong = cl.mem_flags.READ_ONLY if is_output else cl.mem_flags.WRITE_ONLY
    if image.flags & wrong:
        verb, flag = ("write", "read") if is_output else ("read", "write")
        raise CloptError(f"Kernels cannot {verb} the {flag}-only image for {what}.")
    return image


def refuse_image(port: TensorInfo) -> CloptError:
    """The error for an image where a buffer belongs."""
    return CloptError(
        f'"{port.name}" takes a buffer; to bind an image, compile with images=["{port.name}"].'
    )


def _check_format(port: TensorInfo, format: cl.ImageFormat) -> None:
    """Refuse formats that the kernels do not read as the values that users expect."""
    if format.channel_order != cl.channel_order.RGBA:
        name = cl.channel_order.to_string(format.channel_order, "%d")
        raise CloptError(
            f'The image for "{port.name}" has the channel order {name}; kernels take RGBA, so '
            "copy it, or reorder the weights of the first layer and bind it as RGBA."
        )
    possible = _channels_of(port)
    if format.channel_data_type not in possible:
        name = cl.channel_type.to_string(format.channel_data_type, "%d")
        raise CloptError(
            f'The image for "{port.name}" has channels of {name}; the kernels take '
            f"{' or '.join(possible.values())}."
        )


def _channels_of(port: TensorInfo) -> dict[cl.channel_type, str]:
    """The channel types of a port: halves have functions of their own, for halves alone."""
    if port.dtype == np.float16:
        half = cl.channel_type.HALF_FLOAT
        return {half: _CHANNELS[half]}
    return _CHANNELS


def texel_shape(port: TensorInfo) -> tuple[int, ...]:
    """Return the shape of the texels of the image at a port: images, blocks of channels, rows."""
    n, channels, height, width = port.shape
    return (n, -(-channels // _TEXEL), height, width, _TEXEL)


def texels_of(array: Array) -> Array:
    """An array as the texels of its image, row by row; zeros fill the last block of channels."""
    n, channels, height, width = array.shape
    blocks = -(-channels // _TEXEL)
    padded = np.zeros((n, blocks * _TEXEL, height, width), array.dtype)
    padded[:, :channels] = array
    texels = padded.reshape(n, blocks, _TEXEL, height, width).transpose(0, 1, 3, 4, 2)
    return np.ascontiguousarray(texels)


def tensor_of(port: TensorInfo, texels: Array) -> Array:
    """The tensor whose image has these texels."""
    n, channels, height, width = port.shape
    moved = texels.transpose(0, 1, 4, 2, 3).reshape(n, -1, height, width)
    return np.ascontiguousarray(moved[:, :channels])


def _product(extents: tuple[int, ...]) -> str:
    return "x".join(map(str, extents))
