"""Scalar operations of `arith` and `math` on whole tensors, as named nn operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.nn import UnaryKind, UnaryOp, attr_array
from ...dialects.nn.types import Array, is_integer, numpy_dtype, tensor_type
from ..builder import Builder
from .views import NotNamedError

Values = Sequence[SSAValue]
Handler = Callable[[Builder, Operation, Values], SSAValue]


def element_of(type: Attribute) -> Attribute:
    """Return the nn element type of a scalar or tensor type; an index is an i64."""
    if isinstance(type, TensorType):
        type = cast("TensorType[Attribute]", type).element_type
    return i64 if isinstance(type, IndexType) else type


def _unary(kind: str) -> Handler:
    return lambda b, op, x: b.unary(kind, x[0])


def _binary(kind: str) -> Handler:
    return lambda b, op, x: b.binary(kind, x[0], x[1])


def _bits(kind: str, of_bools: str) -> Handler:
    def handler(b: Builder, op: Operation, x: Values) -> SSAValue:
        return b.binary(of_bools if tensor_type(x[0]).element_type == i1 else kind, x[0], x[1])

    return handler


def _cast(b: Builder, op: Operation, x: Values) -> SSAValue:
    return b.cast(x[0], element_of(op.results[0].type))


def _as_unsigned(b: Builder, x: SSAValue) -> SSAValue:
    element = tensor_type(x).element_type
    return b.cast(x, _unsigned(element)) if is_integer(element) else x


def _unsigned(element: Attribute) -> Attribute:
    width = cast("IntegerType", element).bitwidth
    return IntegerType(width, Signedness.UNSIGNED)


def _cast_unsigned(b: Builder, op: Operation, x: Values) -> SSAValue:
    return b.cast(_as_unsigned(b, x[0]), element_of(op.results[0].type))


def _cast_to_unsigned(b: Builder, op: Operation, x: Values) -> SSAValue:
    to = element_of(op.results[0].type)
    return b.cast(b.cast(x[0], _unsigned(to)), to)


def _cast_signed(b: Builder, op: Operation, x: Values) -> SSAValue:
    wide = _cast(b, op, x)
    # i1 is signed here: true is -1.
    return b.unary("neg", wide) if tensor_type(x[0]).element_type == i1 else wide


def _of_numbers(kind: str) -> Handler:
    """Return the handler of maxnum or minnum: if one operand is NaN, the result is the other."""

    def handler(b: Builder, op: Operation, x: Values) -> SSAValue:
        first, second = x
        for value, other in ((first, second), (second, first)):
            array = b.known(other)
            if array is not None and not np.isnan(array).any():
                return b.where(b.unary("isnan", value), other, b.binary(kind, value, other))
        inner = b.where(b.unary("isnan", second), first, b.binary(kind, first, second))
        return b.where(b.unary("isnan", first), second, inner)

    return handler


def _fpowi(b: Builder, op: Operation, x: Values) -> SSAValue:
    return b.binary("pow", x[0], b.cast(x[1], tensor_type(x[0]).element_type))


_COMPARE_INTEGERS = ("eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge")
"""By the number of the `arith.cmpi` predicate; the last four are unsigned."""

_FIRST_UNSIGNED = 6


def _compare_integers(b: Builder, op: Operation, x: Values) -> SSAValue:
    assert isinstance(op, arith.CmpiOp)
    predicate = op.predicate.value.data
    first, second = x
    if predicate >= _FIRST_UNSIGNED:
        first, second = _as_unsigned(b, first), _as_unsigned(b, second)
    return b.compare(_COMPARE_INTEGERS[predicate], first, second)


_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


@dataclass(frozen=True)
class FloatPredicate:
    """A comparison of `arith.cmpf`: its kind, and the result if an operand is NaN."""

    kind: str
    of_nan: bool


_FLOAT_PREDICATES: dict[int, FloatPredicate] = {
    1: FloatPredicate("eq", False),
    2: FloatPredicate("gt", False),
    3: FloatPredicate("ge", False),
    4: FloatPredicate("lt", False),
    5: FloatPredicate("le", False),
    9: FloatPredicate("gt", True),
    10: FloatPredicate("ge", True),
    11: FloatPredicate("lt", True),
    12: FloatPredicate("le", True),
    13: FloatPredicate("ne", True),
}


def float_predicate(op: arith.CmpfOp) -> FloatPredicate | None:
    """Return the predicate of a float comparison, or None for ord, uno, one, ueq and constants."""
    return _FLOAT_PREDICATES.get(op.predicate.value.data)


def _compare_floats(b: Builder, op: Operation, x: Values) -> SSAValue:
    assert isinstance(op, arith.CmpfOp)
    predicate = float_predicate(op)
    if predicate is None:
        raise NotNamedError
    if predicate.of_nan == (predicate.kind == "ne"):
        return b.compare(predicate.kind, x[0], x[1])
    # a > b or unordered: not a <= b.
    return b.unary("logical_not", b.compare(_NEGATED[predicate.kind], x[0], x[1]))


def _select(b: Builder, op: Operation, x: Values) -> SSAValue:
    assert isinstance(op, arith.SelectOp)
    condition, first, second = x
    bound = _bound(b, op, first, second)
    if bound is not None:
        return bound
    test = condition.owner
    if isinstance(test, UnaryOp) and test.kind.data is UnaryKind.LOGICAL_NOT:
        return b.where(test.x, second, first)
    return b.where(condition, first, second)


def _bound(b: Builder, op: arith.SelectOp, first: SSAValue, second: SSAValue) -> SSAValue | None:
    """Return the maximum or minimum with a number that a select of a comparison computes, or None.

    The result is NaN for NaN, as clamp is defined in the source languages; compilers emit selects
    that differ in this case.
    """
    test = op.cond.owner
    if not isinstance(test, arith.CmpfOp) or (predicate := float_predicate(test)) is None:
        return None
    if predicate.kind not in ("gt", "ge", "lt", "le"):
        return None
    greater = predicate.kind in ("gt", "ge")
    if (test.lhs, test.rhs) == (op.rhs, op.lhs):
        greater = not greater
    elif (test.lhs, test.rhs) != (op.lhs, op.rhs):
        return None
    for x, limit in ((first, second), (second, first)):
        number = b.known(limit)
        if number is not None and not np.isnan(number).any():
            return b.binary("max" if greater else "min", x, limit)
    return None


def _constant(b: Builder, op: Operation, x: Values) -> SSAValue:
    assert isinstance(op, arith.ConstantOp)
    return b.constant(constant_array(op))


def constant_array(op: arith.ConstantOp) -> Array:
    """Return the array of a constant; raise NotNamedError if its elements were elided."""
    value, element = op.value, element_of(op.result.type)
    match value:
        case IntegerAttr() | FloatAttr():
            number = value.value.data
            return np.array(bool(number) if element == i1 else number, numpy_dtype(element))
        case DenseIntOrFPElementsAttr() if not isinstance(value.get_element_type(), IndexType):
            array = attr_array(value, cast("TensorType[Attribute]", op.result.type))
            assert array is not None
            return array
        case _:
            raise NotNamedError


HANDLERS: dict[type[Operation], Handler] = {
    arith.ConstantOp: _constant,
    arith.AddfOp: _binary("add"),
    arith.SubfOp: _binary("sub"),
    arith.MulfOp: _binary("mul"),
    arith.DivfOp: _binary("div"),
    arith.MaximumfOp: _binary("max"),
    arith.MinimumfOp: _binary("min"),
    arith.MaxnumfOp: _of_numbers("max"),
    arith.MinnumfOp: _of_numbers("min"),
    arith.NegfOp: _unary("neg"),
    arith.AddiOp: _bits("add", "xor"),
    arith.SubiOp: _bits("sub", "xor"),
    arith.MuliOp: _bits("mul", "and"),
    arith.DivSIOp: _binary("div"),
    arith.RemSIOp: _binary("fmod"),
    arith.MaxSIOp: _binary("max"),
    arith.MinSIOp: _binary("min"),
    arith.AndIOp: _bits("bit_and", "and"),
    arith.OrIOp: _bits("bit_or", "or"),
    arith.XOrIOp: _bits("bit_xor", "xor"),
    arith.ShLIOp: _binary("shl"),
    arith.ShRSIOp: _binary("shr"),
    arith.CmpiOp: _compare_integers,
    arith.CmpfOp: _compare_floats,
    arith.SelectOp: _select,
    arith.ExtFOp: _cast,
    arith.TruncFOp: _cast,
    arith.SIToFPOp: _cast,
    arith.FPToSIOp: _cast,
    arith.IndexCastOp: _cast,
    arith.ExtSIOp: _cast_signed,
    arith.ExtUIOp: _cast_unsigned,
    arith.UIToFPOp: _cast_unsigned,
    arith.FPToUIOp: _cast_to_unsigned,
    math.AbsFOp: _unary("abs"),
    math.AbsIOp: _unary("abs"),
    math.CeilOp: _unary("ceil"),
    math.FloorOp: _unary("floor"),
    math.RoundEvenOp: _unary("round"),
    math.SqrtOp: _unary("sqrt"),
    math.RsqrtOp: _unary("rsqrt"),
    math.ExpOp: _unary("exp"),
    math.LogOp: _unary("log"),
    math.SinOp: _unary("sin"),
    math.CosOp: _unary("cos"),
    math.TanOp: _unary("tan"),
    math.AsinOp: _unary("asin"),
    math.AcosOp: _unary("acos"),
    math.AtanOp: _unary("atan"),
    math.SinhOp: _unary("sinh"),
    math.CoshOp: _unary("cosh"),
    math.TanhOp: _unary("tanh"),
    math.AsinhOp: _unary("asinh"),
    math.AcoshOp: _unary("acosh"),
    math.AtanhOp: _unary("atanh"),
    math.ErfOp: _unary("erf"),
    math.PowFOp: _binary("pow"),
    math.FPowIOp: _fpowi,
}
"""Scalar operation to the nn operation that applies it to each element."""


def compute(b: Builder, op: Operation, operands: Values) -> SSAValue:
    """Apply a scalar operation to each element of the operands."""
    handler = HANDLERS.get(type(op))
    if handler is None:
        raise NotNamedError
    return handler(b, op, operands)
