"""Helpers that constrain, build and read the built-in attributes used as properties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    BoolAttr,
    BytesAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

I64 = IntegerAttr.constr(i64)
"""Constraint for one 64-bit integer."""

I64_ARRAY = DenseArrayBase.constr(i64)
"""Constraint for an array of 64-bit integers."""

F64 = FloatAttr.constr(f64)
"""Constraint for one double."""

F64_ARRAY = DenseArrayBase.constr(f64)
"""Constraint for an array of doubles."""


def int_array(values: Sequence[int]) -> Attribute:
    """Return `array<i64: …>`."""
    return DenseArrayBase.from_list(i64, [_fitting(v) for v in values])


def float_array(values: Sequence[float]) -> Attribute:
    """Return `array<f64: …>`."""
    return DenseArrayBase.from_list(f64, [float(v) for v in values])


def integer(value: int) -> Attribute:
    """Return `value : i64`."""
    return IntegerAttr(_fitting(value), i64)


def _fitting(value: int) -> int:
    if not -(1 << 63) <= value < 1 << 63:
        raise VerifyException(f"the number {value} does not fit 64 bits")
    return int(value)


def real(value: float) -> Attribute:
    """Return `value : f64`."""
    return FloatAttr(float(value), f64)


def flag(value: bool) -> Attribute | None:
    """Return a unit attribute, or None for False."""
    return UnitAttr() if value else None


def boolean(value: bool) -> Attribute:
    """Return `true` or `false`, for properties without a default or with the default true."""
    return BoolAttr.from_bool(value)


def text(attr: Attribute | None) -> str | None:
    """Return the text of a string attribute, or None for other attributes.

    xDSL prints non-ASCII characters as escapes, and parses a string with escapes as bytes.
    """
    if isinstance(attr, BytesAttr):
        return attr.data.decode(errors="replace")
    return attr.data if isinstance(attr, StringAttr) else None


def ints(attr: Attribute | None) -> tuple[int, ...]:
    """Return the values of an i64 array, or of one integer; () if the attribute is absent."""
    if attr is None:
        return ()
    if isinstance(attr, IntegerAttr):
        return (attr.value.data,)
    return tuple(int(v) for v in cast(DenseArrayBase[IntegerType], attr).get_values())


def floats(attr: Attribute | None) -> tuple[float, ...]:
    """Return the values of an f64 array, or of one float; () if the attribute is absent."""
    if attr is None:
        return ()
    if isinstance(attr, FloatAttr):
        return (attr.value.data,)
    return tuple(float(v) for v in cast(DenseArrayBase[IntegerType], attr).get_values())


def number(attr: Attribute) -> int | float:
    """Return the value of an integer or float attribute."""
    return cast("IntegerAttr | FloatAttr", attr).value.data


def is_true(attr: Attribute) -> bool:
    """Return the value of a boolean attribute."""
    return bool(cast("IntegerAttr", attr).value.data)
