"""`tensor.extract` at computed indices, as gathers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ...dialects.nn import GatherNDOp
from ...dialects.nn.types import broadcast, shape_of
from ..builder import Builder
from .views import View, dense


def gather(builder: Builder, table: View, indices: Sequence[SSAValue], rank: int) -> SSAValue:
    """The elements of a table at indices that broadcast to a tensor of `rank`."""
    value = dense(builder, table)
    if not indices:
        return value
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


def _walked(index: SSAValue, rank: int) -> set[int]:
    """The axes of a result of `rank` along which an index differs."""
    shape = shape_of(index)
    return {i + rank - len(shape) for i, size in enumerate(shape) if size > 1}


def _one_by_one(
    builder: Builder,
    value: SSAValue,
    indices: Sequence[SSAValue],
    walked: Sequence[set[int]],
    rank: int,
) -> SSAValue:
    """Gather along one axis of the table at a time, as no two indices differ along one axis."""
    order: list[int] = []
    axis = 0
    for index, axes in zip(indices, walked, strict=True):
        size = shape_of(value)[axis]
        sizes = [n for n in shape_of(index) if n > 1]
        known = builder.known(index)
        if known is None or known.size != size or (known.reshape(-1) != np.arange(size)).any():
            flat = builder.reshape(builder.cast(index, i64), sizes)
            value = builder.gather(value, flat, axis)
        elif not axes:
            value = builder.reshape(value, [n for i, n in enumerate(shape_of(value)) if i != axis])
        order += sorted(axes)
        axis += len(sizes)
    value = builder.transpose(value, [order.index(a) for a in sorted(order)])
    sizes = iter(shape_of(value))
    return builder.reshape(value, [next(sizes) if i in order else 1 for i in range(rank)])
