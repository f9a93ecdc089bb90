"""Fourier transforms as products with constant matrices, and mel filters."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto
from xdsl.ir import SSAValue

from ....dialects.nn.types import Array, shape_of
from ...builder import array_size, dtype_of_value
from ..node import NodeContext, Table
from .generation import checked_shape

MAX_LENGTH = 4096
"""The longest transform; its matrices have this many rows and columns."""


def transform(
    node: NodeContext, x: SSAValue, length: int, inverse: bool, onesided: bool
) -> SSAValue:
    """Transform the last dimension but one: [..., n, 1 or 2] to [..., k, 2 (or 1)]."""
    builder, shape = node.builder, shape_of(x)
    if not 1 <= length <= MAX_LENGTH or shape[-1] not in (1, 2):
        node.refuse(f"shape {list(shape)} with length {length} is not supported.")
    if onesided and not inverse and shape[-1] == 2:
        node.refuse("a onesided transform must have a real input.")
    kept = min(shape[-2], length // 2 + 1 if onesided and inverse else length)
    x = builder.slice(x, len(shape) - 2, 0, kept)
    matrix = _onesided_inverse(length, kept) if onesided and inverse else None
    if matrix is None:
        count = length // 2 + 1 if onesided else length
        matrix = _matrix(length, kept, count, inverse)
    rows, inner, outer = matrix.shape[0] // 2, shape[-1], matrix.shape[1]
    constant = matrix.reshape(rows, 2, outer)[:, :inner].reshape(rows * inner, outer)
    flat = builder.reshape(x, (*shape[:-2], 1, kept * inner))
    product = builder.matmul(flat, builder.constant(constant.astype(dtype_of_value(x))))
    parts = 1 if onesided and inverse else 2
    return builder.reshape(product, (*shape[:-2], outer // parts, parts))


def _matrix(length: int, kept: int, count: int, inverse: bool) -> Array:
    """Return the matrix [kept * 2, count * 2], real and imaginary parts interleaved in both."""
    turns = np.outer(np.arange(kept), np.arange(count)) % length / length
    angle = 2 * np.pi * turns * (1 if inverse else -1)
    cos, sin = np.cos(angle), np.sin(angle)
    # (a + bi) (cos + i sin): the rows of a, then the rows of b.
    blocks = np.stack([np.stack([cos, sin], -1), np.stack([-sin, cos], -1)], 1)
    return blocks.reshape(2 * kept, 2 * count) / (length if inverse else 1)


def _onesided_inverse(length: int, kept: int) -> Array:
    """Return the matrix [kept * 2, length] from half of a spectrum to a real signal."""
    full = _matrix(length, kept, length, inverse=True).reshape(kept, 2, length, 2)[..., 0]
    index = np.arange(kept)
    # Every frequency except the first and the middle one has a conjugate twin.
    alone = (index == 0) | (2 * index == length)
    return (full * np.where(alone, 1, 2)[:, None, None]).reshape(2 * kept, length)


def _dft(node: NodeContext, axis: int) -> SSAValue:
    inverse, onesided = node.flag("inverse"), node.flag("onesided")
    rank, builder = node.rank(), node.builder
    axis = node.axis(axis, rank)
    if rank < 2 or axis == rank - 1:
        node.refuse("cannot transform the last dimension: it holds the real and imaginary parts.")
    given = node.shape()[axis]
    given = 2 * (given - 1) if inverse and onesided else given
    length = node.constant_int(1, "length", given)
    perm = [i for i in range(rank) if i not in (axis, rank - 1)] + [axis, rank - 1]
    moved = builder.transpose(node.input(0), perm)
    back = [perm.index(i) for i in range(rank)]
    return builder.transpose(transform(node, moved, length, inverse, onesided), back)


def import_dft_17(node: NodeContext) -> SSAValue:
    """Import DFT of opset 17, whose axis is an attribute."""
    return _dft(node, node.integer("axis", 1))


def import_dft(node: NodeContext) -> SSAValue:
    """Import DFT, whose axis is an input."""
    return _dft(node, node.constant_int(2, "axis", -2))


def import_stft(node: NodeContext) -> SSAValue:
    """Import STFT: gather overlapping frames, window and transform them."""
    builder, x, window = node.builder, node.input(0), node.optional(2)
    node.check_rank(0, 2, 3)
    if node.rank() == 2:
        # torch.onnx.export emits real signals without the last dimension; onnxruntime accepts them.
        x = builder.reshape(x, (*node.shape(), 1))
    batch, total, parts = shape_of(x)
    step = node.constant_int(1, "frame step")
    length = total if window is None else array_size(window)
    length = node.constant_int(3, "frame length", length)
    if step < 1 or not 1 <= length <= total:
        node.refuse(f"cannot take frames of {length} every {step} of {total} samples.")
    builder.reserve((total - length) // step + 1, length)
    starts = np.arange(0, total - length + 1, step)
    frames = builder.gather(x, builder.constant(starts[:, None] + np.arange(length)), 1)
    if window is not None:
        frames = builder.binary("mul", frames, builder.reshape(window, (length, 1)))
    frames = builder.reshape(frames, (batch, len(starts), length, parts))
    return transform(node, frames, length, False, node.flag("onesided", True))


def import_mel_weight_matrix(node: NodeContext) -> SSAValue:
    """Import MelWeightMatrix: a triangle over the bins of the spectrum for each mel bin."""
    bands, length, rate = (
        node.constant_int(i, what)
        for i, what in enumerate(("number of mel bins", "DFT length", "sample rate"))
    )
    low, high = (node.constant(i, "edge in Hz").reshape(()) for i in (3, 4))
    dtype = node.dtype(node.integer("output_datatype", TensorProto.FLOAT))
    if min(bands, length, rate) < 1 or not (np.isfinite([low, high]).all() and low > -700):
        node.refuse("its sizes must be positive and its edges numbers of Hz.")
    bins, _ = checked_shape(node, (length // 2 + 1, bands))
    # As in ONNX's definition: the edges are rounded to their type, all else to f64.
    first, last = (2595 * np.log1p(edge / 700) / np.log(10) for edge in (low, high))
    mel = np.arange(bands + 2) * ((last - first) / (bands + 2)) + first
    hertz = 700 * np.expm1(mel / 2595 * np.log(10))
    edges = ((length + 1) * hertz // rate).astype(np.int64)
    if edges.min() < 0 or edges.max() >= bins or (np.diff(edges) < 0).any():
        node.refuse(f"its edges, {low} to {high} Hz, must rise and stay below {rate / 2:g} Hz.")
    at = np.arange(bins)[:, None]
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    with np.errstate(all="ignore"):
        rising, falling = (at - left) / (centre - left), (right - at) / (right - centre)
    rises = (left <= at) & (at <= centre) & (left < centre)
    falls = (centre <= at) & (at < right)
    peak = (at == centre) & (left == centre)
    weights = np.select([falls, rises, peak], [falling, rising, 1.0], 0.0)
    return node.builder.constant(weights.astype(dtype))


TABLE: Table = {
    "DFT": {17: import_dft_17, 20: import_dft},
    "MelWeightMatrix": {17: import_mel_weight_matrix},
    "STFT": {17: import_stft},
}
