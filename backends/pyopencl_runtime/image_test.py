"""A test on the device of whether an image and a buffer share their memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl
from xdsl.dialects.builtin import Float16Type, Float32Type, MemRefType
from xdsl.ir import Attribute

from ...dialects import tir
from ...errors import CloptError
from .build import build_kernels
from .cache import BinaryCache
from .images import Images
from .memory import make_memory

_Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

# `texels` are an image's texels; `from` and `to` are the bytes of the memory behind the image.
_KERNELS = """
kernel void paint(write_only IMAGE image, global const float4 *texels) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  write_imagef(image, AT, texels[y * get_global_size(0) + x]);
}

kernel void scan(read_only IMAGE image, global float4 *texels) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  texels[y * get_global_size(0) + x] = read_imagef(image, AT);
}

kernel void move(global const uint *from, global uint *to) {
  to[get_global_id(0)] = from[get_global_id(0)];
}
"""
_ACCESS = {
    tir.ImageKind.Buffer: ("image1d_buffer_t", "x"),
    tir.ImageKind.Image2D: ("image2d_t", "(int2)(x, y)"),
}
_WIDTH = 5
_HEIGHTS = {tir.ImageKind.Buffer: 1, tir.ImageKind.Image2D: 3}


@dataclass(frozen=True)
class Sharing:
    """An image and a buffer that should share memory."""

    kind: tir.ImageKind
    """Not an array: arrays cannot be created over buffers."""
    is_half: bool
    """Whether the elements are halves; otherwise they are floats."""
    pitch_step: int
    """The alignment in bytes of the pitch of a 2-D image."""
    on_host: bool
    """Whether the memory is host memory."""


def shares_memory(sharing: Sharing, images: Images, cache: BinaryCache) -> bool:
    """Return whether a buffer and an image see each other's writes.

    The image lies at an offset in the memory, with a pitch larger than its rows. The test writes it
    once and reads it after each of two writes to the buffer, on one queue without waiting.
    """
    try:
        return _try(sharing, images, cache)
    except (cl.Error, CloptError):
        return False


def _try(sharing: Sharing, images: Images, cache: BinaryCache) -> bool:
    context, device = images.context, images.device
    height = _HEIGHTS[sharing.kind]
    texel = tir.TEXEL * (2 if sharing.is_half else 4)
    pitch = _WIDTH * texel
    if sharing.kind is tir.ImageKind.Image2D:
        pitch = (pitch // sharing.pitch_step + 1) * sharing.pitch_step
    offset, size = images.base_alignment, height * pitch
    memory = make_memory(images, offset + size, sharing.on_host)
    buffer = memory.argument(MemRefType(Float32Type(), [size // 4]), offset)
    type_ = _image_type(sharing, height)
    if sharing.kind is tir.ImageKind.Image2D:
        image = memory.image(type_, offset, pitch)
    else:
        image = memory.argument(type_, offset)

    painted, first, second = (_texels(height, seed) for seed in range(3))
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    given = [
        cl.Buffer(context, flags, hostbuf=array)
        for array in (painted, *(_rows(texels, sharing, pitch) for texels in (first, second)))
    ]
    results = [np.zeros(size, np.uint8), np.zeros_like(first), np.zeros_like(second)]
    taken = [cl.Buffer(context, flags, hostbuf=array) for array in results]
    image_name, at = _ACCESS[sharing.kind]
    source = _KERNELS.replace("IMAGE", image_name).replace("AT", at)
    programs = build_kernels(context, device, source, ["paint", "scan", "move"], cache).programs
    words, grid = (size // 4,), (_WIDTH, height)
    steps = [
        ("paint", grid, image, given[0]),
        ("move", words, buffer, taken[0]),
        ("move", words, given[1], buffer),
        ("scan", grid, image, taken[1]),
        ("move", words, given[2], buffer),
        ("scan", grid, image, taken[2]),
    ]
    queue = cl.CommandQueue(context, device.handle)
    kernels: list[cl.Kernel] = []  # kept alive until the queue has finished
    for name, global_size, *arguments in steps:
        kernels.append(cl.Kernel(programs[name], name))
        kernels[-1].set_args(*arguments)
        cl.enqueue_nd_range_kernel(queue, kernels[-1], global_size, None)
    for result, copy in zip(results, taken, strict=True):
        cl.enqueue_copy(queue, result, copy)
    row = _WIDTH * texel
    seen = results[0].reshape(height, pitch)[:, :row]
    expected = _rows(painted, sharing, pitch).reshape(height, pitch)[:, :row]
    return (
        np.array_equal(seen, expected)
        and np.array_equal(results[1], first)
        and np.array_equal(results[2], second)
    )


def _image_type(sharing: Sharing, height: int) -> Attribute:
    element = Float16Type() if sharing.is_half else Float32Type()
    if sharing.kind is tir.ImageKind.Image2D:
        scope = tir.ScopeAttr(tir.Scope.Texture, [1])
        return MemRefType(element, [height, _WIDTH, tir.TEXEL], memory_space=scope)
    scope = tir.ScopeAttr(tir.Scope.Texture)
    return MemRefType(element, [_WIDTH, tir.TEXEL], memory_space=scope)


def _texels(height: int, seed: int) -> _Array:
    """Return texels of small whole numbers, which halves represent exactly."""
    values = np.random.default_rng(seed).integers(1, 1000, (height, _WIDTH, tir.TEXEL))
    return values.astype(np.float32)


def _rows(texels: _Array, sharing: Sharing, pitch: int) -> _Array:
    """Return the bytes of an image."""
    rows = np.zeros((len(texels), pitch), np.uint8)
    stored = texels.astype(np.float16 if sharing.is_half else np.float32)
    stored = stored.reshape(len(texels), -1).view(np.uint8)
    rows[:, : stored.shape[1]] = stored
    return rows.reshape(-1)
