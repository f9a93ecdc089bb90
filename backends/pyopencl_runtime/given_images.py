"""Images that the caller binds as inputs and outputs, and their contents as numpy arrays."""

from __future__ import annotations

import numpy as np
import pyopencl as cl

from ...errors import CloptError
from ...tensor_info import TensorInfo
from .arrays import Array

_TEXEL = 4  # elements, because images are RGBA

_CHANNELS = {
    cl.channel_type.FLOAT: "CL_FLOAT",
    cl.channel_type.HALF_FLOAT: "CL_HALF_FLOAT",
    cl.channel_type.UNORM_INT8: "CL_UNORM_INT8",
}
"""The channel types that `read_imagef` and `write_imagef` convert to and from float values."""


def check_image(port: TensorInfo, image: object, is_output: bool, context: cl.Context) -> cl.Image:
    """Return `image` if it fits `port`; raise CloptError if it does not."""
    what = f'"{port.name}"'
    if not isinstance(image, cl.Image):
        raise CloptError(
            f"{what} was compiled as an image, but {type(image).__name__} was given; bind a "
            f"pyopencl.Image, or compile without {what} in images."
        )
    if image.context != context:
        raise CloptError(f"The image for {what} belongs to another context than the program.")
    assert port.image is not None, "the port must be an image"
    given = image.width, image.height
    if image.type != cl.mem_object_type.IMAGE2D or given != port.image:
        raise CloptError(
            f"The image for {what} is {_product(given)}, but must be a 2-D image of "
            f"{_product(port.image)} texels."
        )
    _check_format(port, image.format)
    forbidden = cl.mem_flags.READ_ONLY if is_output else cl.mem_flags.WRITE_ONLY
    if image.flags & forbidden:
        verb, flag = ("write", "read") if is_output else ("read", "write")
        raise CloptError(f"Kernels cannot {verb} the {flag}-only image for {what}.")
    return image


def refuse_image(port: TensorInfo) -> CloptError:
    """Return the error for an image that is given for a buffer."""
    return CloptError(
        f'"{port.name}" needs a buffer; to bind an image, compile with images=["{port.name}"].'
    )


def _check_format(port: TensorInfo, format: cl.ImageFormat) -> None:
    """Raise CloptError for formats that kernels would not read as the values that users expect."""
    if format.channel_order != cl.channel_order.RGBA:
        name = cl.channel_order.to_string(format.channel_order, "%d")
        raise CloptError(
            f'The image for "{port.name}" has the channel order {name}, but kernels need RGBA; '
            "copy it, or reorder the weights of the first layer and bind it as RGBA."
        )
    possible = _channels_of(port)
    if format.channel_data_type not in possible:
        name = cl.channel_type.to_string(format.channel_data_type, "%d")
        raise CloptError(
            f'The image for "{port.name}" has channels of {name}, but the kernels need '
            f"{' or '.join(possible.values())}."
        )


def _channels_of(port: TensorInfo) -> dict[cl.channel_type, str]:
    """Return the channel types of a port; halves are read by functions only for halves."""
    if port.dtype == np.float16:
        half = cl.channel_type.HALF_FLOAT
        return {half: _CHANNELS[half]}
    return _CHANNELS


def texel_shape(port: TensorInfo) -> tuple[int, ...]:
    """Return the shape of a port's image in texels: images, blocks of channels, rows, columns."""
    n, channels, height, width = port.shape
    return (n, -(-channels // _TEXEL), height, width, _TEXEL)


def texels_of(array: Array) -> Array:
    """Return an array as the texels of its image, row by row, padding the last block with zeros."""
    n, channels, height, width = array.shape
    blocks = -(-channels // _TEXEL)
    padded = np.zeros((n, blocks * _TEXEL, height, width), array.dtype)
    padded[:, :channels] = array
    texels = padded.reshape(n, blocks, _TEXEL, height, width).transpose(0, 1, 3, 4, 2)
    return np.ascontiguousarray(texels)


def tensor_of(port: TensorInfo, texels: Array) -> Array:
    """Return the tensor whose image has these texels."""
    n, channels, height, width = port.shape
    moved = texels.transpose(0, 1, 4, 2, 3).reshape(n, -1, height, width)
    return np.ascontiguousarray(moved[:, :channels])


def _product(extents: tuple[int, ...]) -> str:
    return "x".join(map(str, extents))
