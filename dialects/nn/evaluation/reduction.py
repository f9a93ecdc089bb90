"""Reductions in numpy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ... import nn
from .. import ArgReduceKind, Array, ReduceKind, ints


def _log_sum_exp(x: Array, axes: tuple[int, ...]) -> Array:
    # ufunc.reduce accepts several axes only for reorderable functions; logaddexp is not.
    for axis in axes:
        x = np.logaddexp.reduce(x, axis, keepdims=True)
    return x


def _sum(x: Array, axes: tuple[int, ...]) -> Array:
    return np.add.reduce(x, axes, dtype=x.dtype, keepdims=True)


def _mean(x: Array, axes: tuple[int, ...]) -> Array:
    # np.mean warns about a mean of no elements, which ONNX defines as NaN.
    count = np.float64(math.prod(x.shape[axis] for axis in axes))
    # The sum of narrow integers may overflow.
    return _sum(x if x.dtype.itemsize == 8 else x.astype(np.int64), axes) / count


REDUCE: dict[ReduceKind, Callable[[Array, tuple[int, ...]], Array]] = {
    ReduceKind.SUM: _sum,
    ReduceKind.MEAN: _mean,
    ReduceKind.MAX: lambda x, axes: np.max(x, axes, keepdims=True),
    ReduceKind.MIN: lambda x, axes: np.min(x, axes, keepdims=True),
    ReduceKind.PROD: lambda x, axes: np.multiply.reduce(x, axes, dtype=x.dtype, keepdims=True),
    ReduceKind.L1: lambda x, axes: _sum(np.abs(x), axes),
    ReduceKind.L2: lambda x, axes: np.sqrt(_sum(np.square(x), axes)),
    ReduceKind.LOG_SUM: lambda x, axes: np.log(_sum(x, axes)),
    ReduceKind.LOG_SUM_EXP: _log_sum_exp,
    ReduceKind.SUM_SQUARE: lambda x, axes: _sum(np.square(x), axes),
}


def _reduce(op: nn.ReduceOp, operands: Sequence[Array]) -> Array:
    (x,) = operands
    if x.dtype.kind == "f":
        x = x.astype(np.float64)
    return REDUCE[op.kind.data](x, ints(op.axes)).reshape(nn.shape_of(op.result))


def _arg_reduce(op: nn.ArgReduceOp, operands: Sequence[Array]) -> Array:
    (x,) = operands
    (axis,) = ints(op.axis)
    function = np.argmax if op.kind.data is ArgReduceKind.MAX else np.argmin
    if op.select_last is None:
        index = function(x, axis=axis, keepdims=True)
    else:
        index = x.shape[axis] - 1 - function(np.flip(x, axis), axis=axis, keepdims=True)
    return index.reshape(nn.shape_of(op.result))


def _cumsum(op: nn.CumsumOp, operands: Sequence[Array]) -> Array:
    (x,) = operands
    (axis,) = ints(op.axis)
    if op.reverse is not None:
        x = np.flip(x, axis)
    total = np.cumsum(x, axis, dtype=x.dtype)
    if op.exclusive is not None:
        total = np.roll(total, 1, axis)
        total[tuple(slice(1 if i == axis else None) for i in range(x.ndim))] = 0
    return total if op.reverse is None else np.flip(total, axis)


def _top_k(op: nn.TopKOp, operands: Sequence[Array]) -> tuple[Array, Array]:
    (x,) = operands
    (axis,), (k,) = ints(op.axis), ints(op.k)
    if op.largest is None:
        order = np.argsort(x, axis, kind="stable")
    else:
        # Sorting the reversed axis and reversing again keeps the order of equal elements.
        backward = np.argsort(np.flip(x, axis), axis, kind="stable")
        order = x.shape[axis] - 1 - np.flip(backward, axis)
    indices = np.take(order, np.arange(k), axis)
    return np.take_along_axis(x, indices, axis), indices


EVALUATORS: dict[type[Operation], Callable[[Any, Sequence[Array]], Any]] = {
    nn.ReduceOp: _reduce,
    nn.ArgReduceOp: _arg_reduce,
    nn.CumsumOp: _cumsum,
    nn.TopKOp: _top_k,
}
