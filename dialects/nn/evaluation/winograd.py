"""Winograd's transforms in numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ... import nn
from .. import Array


def _input(op: nn.WinogradInputOp, operands: Sequence[Array]) -> Array:
    return _tiles(op, operands[0])


def _tiles(op: nn.WinogradInputOp | nn.WinogradConvOp, x: Array) -> Array:
    x = x.astype(np.float64)
    m, pads = op.tile.value.data, nn.ints(op.pads)
    size = m + nn.winograd.KERNEL - 1
    n, c, *spatial = x.shape
    sizes = [s + pads[i] + pads[i + 2] - nn.winograd.KERNEL + 1 for i, s in enumerate(spatial)]
    rows, cols = nn.winograd.tile_counts(sizes, m)
    room = [(k - 1) * m + size - s for k, s in zip((rows, cols), spatial, strict=True)]
    widths = [(pads[i], max(room[i] - pads[i], 0)) for i in range(2)]
    padded = np.pad(x, [(0, 0), (0, 0), *widths])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (2, 3))
    tiles = windows[:, :, : rows * m : m, : cols * m : m]
    b = np.array(nn.winograd.TRANSFORMS[m].input, np.float64)
    changed = np.einsum("ik,nchwkl,jl->ijcnhw", b, tiles, b)
    return changed.reshape(size * size, c, n * rows * cols)


def _output(op: nn.WinogradOutputOp, operands: Sequence[Array]) -> Array:
    return _results(op.tile.value.data, nn.ints(op.sizes), operands[0])


def _results(m: int, sizes: Sequence[int], products: Array) -> Array:
    n, h, w = sizes
    size = m + nn.winograd.KERNEL - 1
    rows, cols = nn.winograd.tile_counts((h, w), m)
    products = products.astype(np.float64).reshape(size, size, -1, n, rows, cols)
    a = np.array(nn.winograd.TRANSFORMS[m].output, np.float64)
    tiles = np.einsum("ik,klonhw,jl->nohiwj", a, products, a)
    return tiles.reshape(n, tiles.shape[1], rows * m, cols * m)[:, :, :h, :w]


def _product(op: nn.WinogradProductOp, operands: Sequence[Array]) -> Array:
    x, w = (operand.astype(np.float64) for operand in operands)
    return w @ x


def _by_element(w: Array) -> Array:
    return w.astype(np.float64).transpose(1, 0, 2)


def _conv(op: nn.WinogradConvOp, operands: Sequence[Array]) -> Array:
    x, w, *bias = operands
    n, _, *sizes = nn.shape_of(op.result)
    results = _results(op.tile.value.data, (n, *sizes), _by_element(w) @ _tiles(op, x))
    return results + bias[0][:, None, None] if bias else results


EVALUATORS: dict[type[Operation], Callable[[Any, Sequence[Array]], Array]] = {
    nn.WinogradConvOp: _conv,
    nn.WinogradInputOp: _input,
    nn.WinogradOutputOp: _output,
    nn.WinogradProductOp: _product,
}
