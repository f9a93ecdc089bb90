"""`tensor.extract` at computed indices as gathers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ...dialects.nn import (
    BinaryKind,
    BinaryOp,
    CompareKind,
    CompareOp,
    GatherNDOp,
    ReshapeOp,
    WhereOp,
    constant_value,
)
from ...dialects.nn.types import broadcast, shape_of
from ..builder import Builder
from .views import TensorView, dense


def gather(builder: Builder, table: TensorView, indices: Sequence[SSAValue], rank: int) -> SSAValue:
    """Gather elements of a table at indices that broadcast to a tensor of `rank`."""
    value = dense(builder, table)
    if not indices:
        return value
    indices = [
        _unwrapped(builder, index, size)
        for index, size in zip(indices, shape_of(value), strict=True)
    ]
    walked = [_walked(index, rank) for index in indices]
    apart = sum(map(len, walked)) == len({axis for axes in walked for axis in axes})
    if apart:
        return _one_by_one(builder, value, indices, walked, rank)
    shape = broadcast(*map(shape_of, indices))
    vectors = [
        builder.reshape(builder.expand(builder.cast(index, i64), shape), (*shape, 1))
        for index in indices
    ]
    return builder.add(GatherNDOp(value, builder.concat(vectors, len(shape)), 0))


def _unwrapped(builder: Builder, index: SSAValue, size: int) -> SSAValue:
    """Return x for `x < 0 ? x + size : x`: nn counts negative indices from the end itself."""
    where = index.owner
    if isinstance(where, ReshapeOp):
        inner = _unwrapped(builder, where.x, size)
        return index if inner is where.x else builder.reshape(inner, shape_of(index))
    if not isinstance(where, WhereOp):
        return index
    test, wrapped = where.condition.owner, where.a.owner
    if not isinstance(test, CompareOp) or not isinstance(wrapped, BinaryOp):
        return index
    kinds = (test.kind.data, wrapped.kind.data)
    numbers = [_constant(value) for value in (test.b, wrapped.b)]
    is_wrapped = kinds == (CompareKind.LT, BinaryKind.ADD) and numbers == [0, size]
    return where.b if is_wrapped and test.a is wrapped.a is where.b else index


def _constant(value: SSAValue) -> int | None:
    array = constant_value(value)
    return None if array is None or array.size != 1 else int(array.reshape(()))


def _walked(index: SSAValue, rank: int) -> set[int]:
    """Return the axes of a result of `rank` along which an index varies."""
    shape = shape_of(index)
    return {i + rank - len(shape) for i, size in enumerate(shape) if size > 1}


def _one_by_one(
    builder: Builder,
    value: SSAValue,
    indices: Sequence[SSAValue],
    walked: Sequence[set[int]],
    rank: int,
) -> SSAValue:
    """Gather along one axis of the table at a time: no two indices vary along the same axis."""
    order: list[int] = []
    taken = {i for axes in walked for i in axes}
    axis = 0
    for index, axes in zip(indices, walked, strict=True):
        size = shape_of(value)[axis]
        # An axis of one element that no index varies along stays in place.
        first = rank - len(shape_of(index))
        free = [i for i in range(first, rank) if i not in taken]
        axes = sorted({*axes, *free})
        taken.update(free)
        sizes = [shape_of(index)[i - first] for i in axes]
        known = builder.known(index)
        if known is None or known.size != size or (known.reshape(-1) != np.arange(size)).any():
            flat = builder.reshape(builder.cast(index, i64), sizes)
            value = builder.gather(value, flat, axis)
        else:
            before, after = shape_of(value)[:axis], shape_of(value)[axis + 1 :]
            value = builder.reshape(value, (*before, *sizes, *after))
        order += axes
        axis += len(sizes)
    value = builder.transpose(value, [order.index(a) for a in sorted(order)])
    sizes = iter(shape_of(value))
    return builder.reshape(value, [next(sizes) if i in order else 1 for i in range(rank)])
