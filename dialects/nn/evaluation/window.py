"""Matrix multiplication, convolutions and poolings in numpy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ... import nn
from .. import Array, PoolKind, ints


def _accumulator(x: Array) -> Array:
    if x.dtype.kind == "f":
        return x.astype(np.float64)
    return x.astype(np.int32) if x.dtype.itemsize == 1 else x


def _matmul(op: nn.MatmulOp, operands: Sequence[Array]) -> Array:
    a, b = map(_accumulator, operands)
    a = a if op.transpose_a is None else a.swapaxes(-1, -2)
    b = b if op.transpose_b is None else b.swapaxes(-1, -2)
    return np.matmul(a, b)


def _padded(x: Array, pads: Sequence[int], value: float, room: Sequence[int]) -> Array:
    """Pad the spatial dimensions of x, and add `room` more elements after each."""
    rank = x.ndim - 2
    widths = [(pads[i], pads[i + rank] + room[i]) for i in range(rank)]
    fill = np.asarray(value, x.dtype)
    return np.pad(x, [(0, 0), (0, 0), *widths], constant_values=fill)


def _taps(
    x: Array,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    sizes: Sequence[int],
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """Yield each position in the window with the elements of x that the windows read there."""
    for at in product(*map(range, kernel)):
        index = [
            slice(p * d, p * d + (n - 1) * s + 1, s)
            for p, d, n, s in zip(at, dilations, sizes, strides, strict=True)
        ]
        yield at, x[(slice(None), slice(None), *index)]


def _conv(op: nn.ConvOp, operands: Sequence[Array]) -> Array:
    x, w, *bias = map(_accumulator, operands)
    (groups,) = ints(op.groups)
    sizes = nn.shape_of(op.result)[2:]
    x = _padded(x, ints(op.pads), 0, [0] * len(sizes))
    result = np.zeros(nn.shape_of(op.result), x.dtype)
    per_group = w.shape[0] // groups
    for at, seen in _taps(x, w.shape[2:], ints(op.strides), ints(op.dilations), sizes):
        tap = w[(slice(None), slice(None), *at)]
        for g in range(groups):
            out = slice(g * per_group, (g + 1) * per_group)
            channels = seen[:, g * w.shape[1] : (g + 1) * w.shape[1]]
            result[:, out] += np.einsum("oc,nc...->no...", tap[out], channels)
    return result + bias[0].reshape(-1, *(1,) * len(sizes)) if bias else result


def _conv_transpose(op: nn.ConvTransposeOp, operands: Sequence[Array]) -> Array:
    x, w, *bias = map(_accumulator, operands)
    (groups,) = ints(op.groups)
    pads, strides, sizes = ints(op.pads), ints(op.strides), nn.shape_of(op.result)[2:]
    rank = len(sizes)
    full = [n + pads[i] + pads[i + rank] for i, n in enumerate(sizes)]
    result = np.zeros((x.shape[0], w.shape[1] * groups, *full), x.dtype)
    per_group = w.shape[0] // groups
    for at, target in _taps(result, w.shape[2:], strides, ints(op.dilations), x.shape[2:]):
        tap = w[(slice(None), slice(None), *at)]
        for g in range(groups):
            part = slice(g * per_group, (g + 1) * per_group)
            out = slice(g * w.shape[1], (g + 1) * w.shape[1])
            target[:, out] += np.einsum("co,nc...->no...", tap[part], x[:, part])
    crop = [slice(pads[i], pads[i] + n) for i, n in enumerate(sizes)]
    result = result[(slice(None), slice(None), *crop)]
    return result + bias[0].reshape(-1, *(1,) * rank) if bias else result


def _windows(op: nn.WindowOp, x: Array, value: float) -> Array:
    """Return the elements that each window reads, stacked in the first dimension."""
    kernel, strides, dilations = ints(op.kernel), ints(op.strides), ints(op.dilations)
    padded = _padded(x, ints(op.pads), value, strides)
    sizes = nn.shape_of(op.result)[2:]
    return np.stack([seen for _, seen in _taps(padded, kernel, strides, dilations, sizes)])


def _lowest(x: Array) -> float:
    return -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min


def _pool(op: nn.PoolOp, operands: Sequence[Array]) -> Array:
    (x,) = operands
    if op.kind.data is PoolKind.MAX:
        return _windows(op, x, _lowest(x)).max(0)
    seen = _windows(op, x.astype(np.float64), 0)
    if op.kind.data is PoolKind.LP:
        (p,) = ints(op.p)
        return (np.abs(seen) ** p).sum(0) ** (1 / p)
    inside = np.ones((1, 1, *x.shape[2:]))
    if op.count_include_pad is not None:
        inside = _padded(inside, ints(op.pads), 1, [0] * (x.ndim - 2))
        strides = ints(op.strides)
        room = _padded(inside, [0] * 2 * (x.ndim - 2), 0, strides)
        taps = _taps(room, ints(op.kernel), strides, ints(op.dilations), nn.shape_of(op.result)[2:])
        return seen.sum(0) / np.stack([tap for _, tap in taps]).sum(0)
    return seen.sum(0) / _windows(op, inside, 0).sum(0)


def _max_pool_indices(op: nn.MaxPoolIndicesOp, operands: Sequence[Array]) -> Array:
    (x,) = operands
    best = _windows(op, x, _lowest(x)).argmax(0)[None]
    spatial = x.shape[2:]
    count = math.prod(spatial)
    flat: Array = np.arange(count)
    flat = (
        flat.reshape(spatial) if ints(op.storage_order) == (0,) else flat.reshape(spatial[::-1]).T
    )
    planes: Array = np.arange(math.prod(x.shape[:2])).reshape(*x.shape[:2], *(1,) * len(spatial))
    return np.take_along_axis(_windows(op, planes * count + flat, 0), best, 0)[0]


EVALUATORS: dict[type[Operation], Callable[[Any, Sequence[Array]], Any]] = {
    nn.MatmulOp: _matmul,
    nn.ConvOp: _conv,
    nn.ConvTransposeOp: _conv_transpose,
    nn.PoolOp: _pool,
    nn.MaxPoolIndicesOp: _max_pool_indices,
}
