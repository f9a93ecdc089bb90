"""Gathers and scatters in numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ... import nn
from .. import Array, ScatterReduction, ints

ACCUMULATE: dict[ScatterReduction, np.ufunc] = {
    ScatterReduction.ADD: np.add,
    ScatterReduction.MUL: np.multiply,
    ScatterReduction.MIN: np.minimum,
    ScatterReduction.MAX: np.maximum,
}


def _grid(shape: tuple[int, ...]) -> tuple[Array, ...]:
    """Return the index arrays that address every element of a shape."""
    return np.ix_(*map(np.arange, shape))


def _along(shape: tuple[int, ...], indices: Array, axis: int) -> tuple[Array, ...]:
    """Return one index array per dimension, `indices` along `axis`."""
    _check(indices, shape[axis])
    grid = _grid(indices.shape)
    return (*grid[:axis], indices.astype(np.int64), *grid[axis + 1 :])


def _check(indices: Array, size: int) -> None:
    if indices.size and not (-size <= indices.min() and indices.max() < size):
        raise IndexError


def _vectors(indices: Array) -> tuple[Array, ...]:
    """Split the last dimension of indices into index arrays."""
    return tuple(np.moveaxis(indices.astype(np.int64), -1, 0))


def _gather(op: nn.GatherOp, operands: Sequence[Array]) -> Array:
    x, indices = operands
    return np.take(x, indices.astype(np.int64), ints(op.axis)[0])


def _gather_elements(op: nn.GatherElementsOp, operands: Sequence[Array]) -> Array:
    x, indices = operands
    return x[_along(x.shape, indices, ints(op.axis)[0])]


def _gather_nd(op: nn.GatherNDOp, operands: Sequence[Array]) -> Array:
    x, indices = operands
    (batch,) = ints(op.batch_dims)
    return x[(*_grid(indices.shape[:-1])[:batch], *_vectors(indices))]


def _scatter(x: Array, where: tuple[Array, ...], updates: Array, how: ScatterReduction) -> Array:
    result = x.copy()
    if how is ScatterReduction.NONE:
        result[where] = updates
    else:
        ACCUMULATE[how].at(result, where, updates)
    return result


def _scatter_elements(op: nn.ScatterElementsOp, operands: Sequence[Array]) -> Array:
    x, indices, updates = operands
    where = _along(x.shape, indices, ints(op.axis)[0])
    return _scatter(x, where, updates, op.reduction.data)


def _scatter_nd(op: nn.ScatterNDOp, operands: Sequence[Array]) -> Array:
    x, indices, updates = operands
    return _scatter(x, _vectors(indices), updates, op.reduction.data)


def _insert_slice(op: nn.InsertSliceOp, operands: Sequence[Array]) -> Array:
    x, inserted, start = operands
    (axis,) = ints(op.axis)
    result = x.copy()
    if start.ndim:
        for each in zip(result, inserted, start, strict=True):
            _insert(*each, axis - 1)
    else:
        _insert(result, inserted, start, axis)
    return result


def _insert(result: Array, inserted: Array, start: Array, axis: int) -> None:
    moved, rows = (np.moveaxis(each, axis, 0) for each in (result, inserted))
    first, size = int(start), len(moved)
    begin, end = min(max(0, first), size), min(max(0, first + len(rows)), size)
    moved[begin:end] = rows[begin - first : end - first]


EVALUATORS: dict[type[Operation], Callable[[Any, Sequence[Array]], Any]] = {
    nn.GatherOp: _gather,
    nn.GatherElementsOp: _gather_elements,
    nn.GatherNDOp: _gather_nd,
    nn.InsertSliceOp: _insert_slice,
    nn.ScatterElementsOp: _scatter_elements,
    nn.ScatterNDOp: _scatter_nd,
}
