"""Evaluates operations on constants at compile time, if that is cheap enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from ... import nn
from .. import Array, ints
from ..limits import MAX_COMPUTED
from . import evaluate

_ITEM = 8
"""The bytes of an intermediate element, since evaluators compute in double precision."""


def fold(op: Operation, operands: Sequence[Array]) -> tuple[Array, ...] | None:
    """The results of an operation on constants; None if it is left to run time.

    Operations without an evaluator are left to run time, and those whose evaluation takes more
    than MAX_COMPUTED bytes, unless the operands themselves take that many.
    """
    limit = max(MAX_COMPUTED // _ITEM, sum(operand.size for operand in operands))
    return evaluate(op, operands) if _work(op) <= limit else None


def _work(op: Operation) -> int:
    """The number of elements that the evaluation of an operation visits or holds."""
    sizes = [_size(value) for value in (*op.operands, *op.results)]
    extra = _WORK.get(type(op))
    return max(sizes) if extra is None else max(*sizes, extra(op))


def _size(value: SSAValue) -> int:
    return nn.count(nn.shape_of(value))


def _matmul(op: nn.MatmulOp) -> int:
    shape = nn.shape_of(op.a)
    return _size(op.result) * shape[-1 if op.transpose_a is None else -2]


def _padded(value: SSAValue, pads: Sequence[int], room: Sequence[int] = ()) -> int:
    """The number of elements of an image with `pads`, and `room` after each dimension."""
    spatial = nn.shape_of(value)[2:]
    rank = len(spatial)
    room = room or (0,) * rank
    sizes = [n + pads[i] + pads[i + rank] + room[i] for i, n in enumerate(spatial)]
    return math.prod(sizes) * nn.count(nn.shape_of(value)[:2])


def _conv(op: nn.ConvOp) -> int:
    taps = nn.count(nn.shape_of(op.w)[1:])
    return max(_padded(op.x, ints(op.pads)), _size(op.result) * taps)


def _conv_transpose(op: nn.ConvTransposeOp) -> int:
    taps = nn.count(nn.shape_of(op.w)[1:])
    return max(_padded(op.result, ints(op.pads)), _size(op.x) * taps)


def _pool(op: nn.WindowOp) -> int:
    seen = _size(op.result) * math.prod(ints(op.kernel))
    return max(_padded(op.x, ints(op.pads), ints(op.strides)), seen)


def _resize(op: nn.ResizeOp) -> int:
    """The elements of the largest matrix of a dimension or of the largest intermediate tensor."""
    before, after = nn.shape_of(op.x), nn.shape_of(op.result)
    # Python computes a matrix row by row, and each row takes as long as many elements.
    matrices = max(m * (n + 256) for n, m in zip(before, after, strict=True))
    between = math.prod(max(n, m) for n, m in zip(before, after, strict=True))
    return max(matrices, between)


_WORK: dict[type[Operation], Callable[[Any], int]] = {
    nn.MatmulOp: _matmul,
    nn.ConvOp: _conv,
    nn.ConvTransposeOp: _conv_transpose,
    nn.PoolOp: _pool,
    nn.MaxPoolIndicesOp: _pool,
    nn.ResizeOp: _resize,
}
"""The operations that visit more elements than their operands and results have."""
