"""C types of kernels: one row per element type, scalar and vector spellings, and literals."""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

from xdsl.dialects.builtin import (
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
)
from xdsl.ir import Attribute

from ...errors import CloptError
from ...machine.target import Target

INTEGERS = {8: "char", 16: "short", 32: "int", 64: "long"}
"""The signed C type by number of bits; the unsigned type has the prefix `u`."""

INTEGER_BITS = {name: bits for bits, name in INTEGERS.items()} | {
    "u" + name: bits for bits, name in INTEGERS.items()
}
FLOAT_BITS = {"half": 16, "float": 32, "double": 64}

WIDE_BYTES = 16
"""Bytes of the widest access of one work-item; local arrays are aligned to it."""

_PACK = {"half": "e", "float": "f", "double": "d"}
_FLOAT_SUFFIX = {"half": "h", "float": "f", "double": ""}


class CType(NamedTuple):
    """The type of a C expression.

    `base` is an OpenCL C scalar type or `bool`. A scalar `bool` is an int of 0 or 1; a vector of
    truth values is a `mask`, an integer vector of 0 and -1, as OpenCL's vector comparisons return.
    """

    base: str
    width: int = 1
    mask: bool = False

    @property
    def text(self) -> str:
        """The type as it is written in C."""
        base = "int" if self.base == "bool" else self.base
        return base if self.width == 1 else f"{base}{self.width}"

    @property
    def bits(self) -> int:
        """Number of bits of one element."""
        if self.base == "bool":
            return 32
        return FLOAT_BITS.get(self.base) or INTEGER_BITS[self.base]

    @property
    def is_float(self) -> bool:
        return self.base in FLOAT_BITS

    @property
    def is_bool(self) -> bool:
        """Whether it is a truth value: a scalar bool or a mask."""
        return self.mask or self.base == "bool"

    @property
    def is_unsigned(self) -> bool:
        return self.base.startswith("u")

    def signed(self) -> CType:
        """Return the signed integer type of the same size; other types are unchanged."""
        return self._replace(base=self.base[1:]) if self.is_unsigned else self

    def unsigned(self) -> CType:
        """Return the unsigned integer type of the same size."""
        return self if self.is_unsigned else self._replace(base="u" + self.base)

    def resized(self, width: int) -> CType:
        """Return the type with the same base and kind, and `width` elements."""
        return self if self.width == width else CType(self.base, width, self.mask)

    def of_width(self, width: int) -> CType:
        """Return the type of `width` such elements; truth values become 32-bit masks."""
        if self.is_bool:
            if width == 1:
                return BOOL
            return CType(self.base if self.mask else "int", width, mask=True)
        return self.resized(width)


BOOL = CType("bool")
INT = CType("int")
LONG = CType("long")


def mask_type(bits: int, width: int) -> CType:
    """Return the mask type of a comparison of vectors whose elements have `bits` bits."""
    return CType(INTEGERS[bits], width, mask=True)


def value_type(attr: Attribute, target: Target) -> CType:
    """Return the scalar C type in which a kernel computes with an element type."""
    match attr:
        case Float32Type():
            return CType("float")
        case Float16Type():
            return CType("half" if target.device.fp16 else "float")
        case Float64Type():
            if not target.device.fp64:
                raise CloptError(
                    f"the target {target.name} has no double precision: "
                    "cast the f64 tensors of the model to f32"
                )
            return CType("double")
        case IntegerType() if attr.width.data == 1:
            return BOOL
        case IntegerType() if attr.width.data in INTEGERS:
            return CType(INTEGERS[attr.width.data])
        case IndexType():
            return INT
        case _:
            raise CloptError(
                f"OpenCL C has no element type {attr}: use f16, f32, f64, i1 or i8 to i64"
            )


def storage_type(attr: Attribute, target: Target) -> str:
    """Return the C type of a buffer's elements: a byte for truth values, `half` on any device."""
    if isinstance(attr, Float16Type):
        return "half"
    ctype = value_type(attr, target)
    return "uchar" if ctype.base == "bool" else ctype.base


def float_literal(value: float, base: str) -> str:
    """Return the shortest decimal that reads back as `value` rounded to the type `base`."""
    code = _PACK[base]
    try:
        exact = struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        exact = math.copysign(math.inf, value)
    if math.isnan(exact):
        return "NAN"
    if math.isinf(exact):
        return "INFINITY" if exact > 0 else "-INFINITY"
    shortest = next(
        text
        for text in (f"{exact:.{digits}g}" for digits in range(1, 18))
        if struct.pack(code, float(text)) == struct.pack(code, exact)
    )
    return repr(float(shortest)) + _FLOAT_SUFFIX[base]


def int_literal(value: int, base: str) -> str:
    """Return an integer literal; minima use INT_MIN and LONG_MIN, as C has no negative literals."""
    if base == "bool":
        return str(int(value != 0))
    bits = INTEGER_BITS[base]
    if value == -(1 << (bits - 1)):
        return {32: "INT_MIN", 64: "LONG_MIN"}.get(bits, str(value))
    return f"{value}L" if bits == 64 else str(value)
