"""Pack weights, biases and activations into tiles in the accelerator's DRAM order."""

from __future__ import annotations

import numpy as np

from ....dialects.vta import Config
from ....weights import Array


def blocks(channels: int, block: int) -> int:
    """Return the number of tiles that hold `channels` channels."""
    return -(-channels // block)


def block_groups(groups: int, inputs: int, outputs: int, block: int) -> int:
    """Return the largest number of groups of whole blocks that cover `groups` channel groups.

    Several groups within one block are merged, with zeros in the weights.
    """
    for count in range(groups, 1, -1):
        if groups % count == 0 and not (inputs // count % block or outputs // count % block):
            return count
    return 1


def merge_groups(weight: Array, groups: int, merged: int) -> Array:
    """Merge the groups of a weight: O x I/groups x kh x kw becomes O x I/merged x kh x kw."""
    if merged == groups:
        return weight
    outputs, inputs = weight.shape[0] // groups, weight.shape[1]
    share = groups // merged
    result = np.zeros((weight.shape[0], inputs * share, *weight.shape[2:]), weight.dtype)
    for group in range(groups):
        rows = slice(group * outputs, (group + 1) * outputs)
        start = group % share * inputs
        result[rows, start : start + inputs] = weight[rows]
    return result


def pack_weight(weight: Array, config: Config) -> Array:
    """Pack int8 O x I x kh x kw as tiles [O/o, I/i, kh, kw, o, i], zeros for missing channels."""
    outputs, inputs, *window = weight.shape
    o, i = config.block_out, config.block_in
    rows, columns = blocks(outputs, o), blocks(inputs, i)
    padded = np.zeros((rows * o, columns * i, *window), np.int8)
    padded[:outputs, :inputs] = weight
    tiles = padded.reshape(rows, o, columns, i, *window).transpose(0, 2, 4, 5, 1, 3)
    return np.ascontiguousarray(tiles).reshape(-1, o, i)


def pack_bias(bias: Array, rounding: int, config: Config) -> Array:
    """Pack int32 channel values, plus `rounding`, as tiles [O/o, batch, o], repeated in the batch.

    Sums wrap at 32 bits, as on the accelerator.
    """
    count = blocks(bias.size, config.block_out)
    padded = np.zeros(count * config.block_out, np.int32)
    padded[: bias.size] = bias
    padded += np.int32(rounding)
    tiles = padded.reshape(count, 1, config.block_out)
    return np.ascontiguousarray(np.repeat(tiles, config.batch, axis=1))


def pack_activations(x: Array, config: Config) -> Array:
    """Pack int8 N x C x H x W, or N x C, as tiles [N/n, C/c, H, W, n, c], padded with zeros."""
    x = x.reshape(*x.shape, *[1] * (4 - x.ndim))
    n, c = blocks(x.shape[0], config.batch), blocks(x.shape[1], config.block_in)
    padded = np.zeros((n * config.batch, c * config.block_in, *x.shape[2:]), np.int8)
    padded[: x.shape[0], : x.shape[1]] = x
    split = padded.reshape(n, config.batch, c, config.block_in, *x.shape[2:])
    return np.ascontiguousarray(split.transpose(0, 2, 4, 5, 1, 3)).reshape(
        -1, config.batch, config.block_in
    )


def unpack_activations(tiles: Array, shape: tuple[int, ...], config: Config) -> Array:
    """Invert `pack_activations` for a result of `shape`."""
    images, channels, *space = (*shape, *[1] * (4 - len(shape)))
    n, c = blocks(images, config.batch), blocks(channels, config.block_out)
    split = tiles.reshape(n, c, *space, config.batch, config.block_out)
    whole = split.transpose(0, 4, 1, 5, 2, 3).reshape(
        n * config.batch, c * config.block_out, *space
    )
    return whole[:images, :channels].reshape(shape)


def activation_tiles(shape: tuple[int, ...], config: Config) -> int:
    """Return the number of tiles of activations in DRAM."""
    images, channels, *space = shape
    count = blocks(images, config.batch) * blocks(channels, config.block_in)
    for size in space:
        count *= size
    return count
