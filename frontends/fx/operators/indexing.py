"""Operators that read elements at computed indices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import is_bool, shape_of
from ..call import FxCall, Table, element_of


def _embedding(call: FxCall) -> SSAValue:
    return call.builder.gather(call.tensor("weight"), call.tensor("indices"), 0)


def _index_select(call: FxCall) -> SSAValue:
    return call.builder.gather(call.tensor(), call.tensor("index"), call.axis())


def _gather(call: FxCall) -> SSAValue:
    return call.add(nn.GatherElementsOp(call.tensor(), call.tensor("index"), call.axis()))


def _index(call: FxCall) -> SSAValue:
    """Gather by one tensor of indices along one axis."""
    indices: Sequence[SSAValue | None] = call["indices"]
    given = [(axis, index) for axis, index in enumerate(indices) if index is not None]
    if len(given) != 1:
        call.refuse("must have one tensor of indices, not {len(given)}")
    ((axis, index),) = given
    if is_bool(element_of(index)):
        call.refuse(
            "selects by a boolean mask, so the size of its result depends on run-time values"
        )
    return call.builder.gather(call.tensor(), index, axis)


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
