"""Bounds of trip counts that are computed at run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from .....dialects import nn
from .....dialects.nn.constant import constant_value
from .....dialects.nn.types import shape_of
from ....builder import Builder, array_size, dtype_of_value

_DEPTH = 16
"""Most operations between a trip count and a number that bounds it."""

_Bound = Callable[[SSAValue], "int | None"]
_Rule = Callable[[Any, _Bound], "int | None"]
"""Returns the bound of the result of an operation, from those of its operands."""


def most(builder: Builder, value: SSAValue, depth: int = _DEPTH) -> int | None:
    """Return a number that the elements of a tensor of whole numbers do not exceed, or None."""
    dtype = dtype_of_value(value)
    if dtype.kind == "b":
        return 1
    array = builder.known(value)
    array = constant_value(value) if array is None else array
    if array is not None and array.size and dtype.kind in "iu":
        return int(array.max())
    rule = _RULES.get(type(value.owner)) if isinstance(value.owner, Operation) else None
    if rule is None or dtype.kind not in "iu" or not depth:
        return None
    return rule(value.owner, lambda operand: most(builder, operand, depth - 1))


def _both(a: int | None, b: int | None, function: Callable[[int, int], int]) -> int | None:
    return None if a is None or b is None else function(a, b)


def _binary(op: nn.BinaryOp, bound: _Bound) -> int | None:
    a, b = bound(op.a), bound(op.b)
    match op.kind.data:
        case "min":
            return min((each for each in (a, b) if each is not None), default=None)
        case "max":
            return _both(a, b, max)
        case _:
            return None


def _clip(op: nn.ClipOp, bound: _Bound) -> int | None:
    return bound(op.x) if op.high is None else int(op.high.value.data)


def _reduction(op: nn.ReduceOp, bound: _Bound) -> int | None:
    largest = bound(op.x)
    match op.kind.data:
        case "max" | "min":
            return largest
        case "sum" if largest is not None:
            return max(largest, 0) * (array_size(op.x) // max(array_size(op.result), 1))
        case _:
            return None


def _place(op: nn.ArgReduceOp, bound: _Bound) -> int | None:
    return shape_of(op.x)[op.axis.value.data] - 1


def _cast(op: nn.CastOp, bound: _Bound) -> int | None:
    """Return the bound of a conversion that keeps all values, to a wider type."""
    before, after = dtype_of_value(op.x), dtype_of_value(op.result)
    return bound(op.x) if np.can_cast(before, after) else None


_RULES: Mapping[type[Operation], _Rule] = {
    nn.ArgReduceOp: _place,
    nn.BinaryOp: _binary,
    nn.CastOp: _cast,
    nn.ClipOp: _clip,
    nn.GatherOp: lambda op, bound: bound(op.x),
    nn.ReduceOp: _reduction,
    nn.ReshapeOp: lambda op, bound: bound(op.x),
    nn.SliceOp: lambda op, bound: bound(op.x),
    nn.WhereOp: lambda op, bound: _both(bound(op.a), bound(op.b), max),
}
