"""Reductions."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import shape_of
from ..call import FxCall, Handler, Results, Table


def reduce(kind: str) -> Handler:
    """Return the importer of a reduction over some axes, or over all."""

    def handler(call: FxCall) -> SSAValue:
        x = call.operand("self", call.form().element)
        return call.builder.reduce(kind, x, call.axes(), bool(call["keepdim"]))

    return handler


def extreme(kind: str) -> Handler:
    """Return the importer of the maxima or minima along an axis, with their indices."""

    def handler(call: FxCall) -> Results:
        axis, keep = call.axis(), bool(call["keepdim"])
        index = call.add(nn.ArgReduceOp(call.tensor(), kind, axis, keep))
        values = call.builder.reduce(kind, call.tensor(), [axis], keep)
        return [values, call.builder.cast(index, i64)]

    return handler


def position(kind: str) -> Handler:
    """Return the importer of argmax or argmin along an axis, or of the whole tensor."""

    def handler(call: FxCall) -> SSAValue:
        x, axis = call.tensor(), call["dim"]
        if axis is None:
            x = call.builder.reshape(x, (-1,) if not shape_of(x) else _flat(x))
            axis = 0
        index = call.add(
            nn.ArgReduceOp(x, kind, int(axis) % len(shape_of(x)), bool(call["keepdim"]))
        )
        return call.builder.reshape(call.builder.cast(index, i64), call.form().shape)

    return handler


def _flat(x: SSAValue) -> tuple[int]:
    size = 1
    for n in shape_of(x):
        size *= n
    return (size,)


def _variance(call: FxCall) -> SSAValue:
    builder, x, axes = call.builder, call.tensor(), call.axes()
    count = 1
    for axis in axes:
        count *= shape_of(x)[axis]
    rest = count - call.number("correction", 1.0)
    if rest <= 0:
        call.refuse("has too few elements for its correction")
    centered = builder.binary("sub", x, builder.reduce("mean", x, axes))
    squares = builder.binary("mul", centered, centered)
    total = builder.reduce("sum", squares, axes, bool(call["keepdim"]))
    return builder.binary("mul", total, 1 / rest)


def _cumsum(call: FxCall) -> SSAValue:
    x = call.operand("self", call.form().element)
    return call.add(nn.CumsumOp(x, call.axis())) if shape_of(x) else x


TABLE: Table = {
    "aten.amax.default": reduce("max"),
    "aten.amin.default": reduce("min"),
    "aten.argmax.default": position("max"),
    "aten.argmin.default": position("min"),
    "aten.cumsum.default": _cumsum,
    "aten.max.dim": extreme("max"),
    "aten.mean.default": reduce("mean"),
    "aten.mean.dim": reduce("mean"),
    "aten.min.dim": extreme("min"),
    "aten.prod.dim_int": reduce("prod"),
    "aten.sum.default": reduce("sum"),
    "aten.sum.dim_IntList": reduce("sum"),
    "aten.var.correction": _variance,
}
