"""Operations that move elements, in numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ... import nn
from .. import Array, BlockOrder, PadMode, ints, number


def _slice(op: nn.SliceOp, operands: Sequence[Array]) -> Array:
    index: list[slice] = []
    for start, step, size in zip(ints(op.starts), ints(op.steps), ints(op.sizes), strict=True):
        stop = start + size * step
        index.append(slice(start, None if stop < 0 else stop, step) if size else slice(0, 0))
    return operands[0][tuple(index)]


def _pad(op: nn.PadOp, operands: Sequence[Array]) -> Array:
    (x,) = operands
    low, high = ints(op.low), ints(op.high)
    index = tuple(
        slice(max(-a, 0), n - max(-b, 0)) for n, a, b in zip(x.shape, low, high, strict=True)
    )
    widths = [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)]
    mode = op.mode.data
    if mode is not PadMode.CONSTANT:
        return np.pad(x[index], widths, mode.value)
    value = 0 if op.value is None else number(op.value)
    return np.pad(x[index], widths, "constant", constant_values=np.asarray(value, x.dtype))


def _depth_to_space(op: nn.DepthToSpaceOp, operands: Sequence[Array]) -> Array:
    n, c, h, w = operands[0].shape
    (b,) = ints(op.block)
    if op.mode.data is BlockOrder.DCR:
        split = operands[0].reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        split = operands[0].reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    return split.reshape(n, c // (b * b), h * b, w * b)


def _space_to_depth(op: nn.SpaceToDepthOp, operands: Sequence[Array]) -> Array:
    n, c, h, w = operands[0].shape
    (b,) = ints(op.block)
    split = operands[0].reshape(n, c, h // b, b, w // b, b)
    perm = (0, 3, 5, 1, 2, 4) if op.mode.data is BlockOrder.DCR else (0, 1, 3, 5, 2, 4)
    return split.transpose(perm).reshape(n, c * b * b, h // b, w // b)


EVALUATORS: dict[type[Operation], Callable[[Any, Sequence[Array]], Any]] = {
    nn.ReshapeOp: lambda op, xs: xs[0].reshape(ints(op.shape)),
    nn.TransposeOp: lambda op, xs: xs[0].transpose(ints(op.perm)),
    nn.ConcatOp: lambda op, xs: np.concatenate(xs, ints(op.axis)[0]),
    nn.SliceOp: _slice,
    nn.PadOp: _pad,
    nn.ExpandOp: lambda op, xs: np.broadcast_to(xs[0], ints(op.shape)),
    nn.TileOp: lambda op, xs: np.tile(xs[0], ints(op.repeats)),
    nn.DepthToSpaceOp: _depth_to_space,
    nn.SpaceToDepthOp: _space_to_depth,
}
