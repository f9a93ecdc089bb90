"""Operators that read elements at computed indices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import broadcast, is_bool, shape_of
from ..call import FxCall, Table, element_of


def _embedding(call: FxCall) -> SSAValue:
    return call.builder.gather(call.tensor("weight"), call.tensor("indices"), 0)


def _index_select(call: FxCall) -> SSAValue:
    return call.builder.gather(call.tensor(), call.tensor("index"), call.axis())


def _gather(call: FxCall) -> SSAValue:
    return call.add(nn.GatherElementsOp(call.tensor(), call.tensor("index"), call.axis()))


def _index(call: FxCall) -> SSAValue:
    """Gather by tensors of indices, each along one axis; several broadcast to one shape.

    As in numpy, the axes of the indices replace the indexed axes if those are adjacent, and come
    first otherwise.
    """
    indices: Sequence[SSAValue | None] = call["indices"]
    given = {axis: index for axis, index in enumerate(indices) if index is not None}
    if any(is_bool(element_of(index)) for index in given.values()):
        call.refuse(
            "selects by a boolean mask, so the size of its result depends on run-time values"
        )
    b, x, axes = call.builder, call.tensor(), list(given)
    if len(given) == 1:
        return b.gather(x, given[axes[0]], axes[0])
    shape = broadcast(*map(shape_of, given.values()))
    rank, rest = len(shape), [axis for axis in range(len(shape_of(x))) if axis not in given]
    vectors = [
        b.reshape(b.expand(b.cast(index, i64), shape), (*shape, 1)) for index in given.values()
    ]
    front = b.transpose(x, [*axes, *rest])
    result = call.add(nn.GatherNDOp(front, b.concat(vectors, rank), 0))
    if axes != list(range(axes[0], axes[-1] + 1)):
        return result
    before = rank + axes[0]
    return b.transpose(
        result, [*range(rank, before), *range(rank), *range(before, rank + len(rest))]
    )


def _topk(call: FxCall) -> Sequence[SSAValue]:
    if not shape_of(call.tensor()):
        call.refuse("must not be applied to a scalar")
    axis = call.axis() if call["dim"] is not None else len(shape_of(call.tensor())) - 1
    largest = call["largest"] is not False
    return call.builder.add_all(nn.TopKOp(call.tensor(), int(call["k"]), axis, largest))


TABLE: Table = {
    "aten.embedding.default": _embedding,
    "aten.gather.default": _gather,
    "aten.index.Tensor": _index,
    "aten.index_select.default": _index_select,
    "aten.topk.default": _topk,
}
