"""Element types for storage only: an element takes one or two bytes, and nothing computes in it.

`nn.cast` converts from and to these types; other operations can only move their elements. A device
sees integers, one byte (bfloat16: two) for each element, as in the arrays of `ml_dtypes`.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    IntegerType,
    Signedness,
    bf16,
    f8E4M3FN,
    f8E4M3FNUZ,
    f8E5M2,
    f8E5M2FNUZ,
    f32,
    i8,
)
from xdsl.ir import Attribute

NARROW: Mapping[Attribute, str] = {
    bf16: "bfloat16",
    f8E4M3FN: "float8_e4m3fn",
    f8E4M3FNUZ: "float8_e4m3fnuz",
    f8E5M2: "float8_e5m2",
    f8E5M2FNUZ: "float8_e5m2fnuz",
    Float4E2M1FNType(): "float4_e2m1fn",
    IntegerType(2): "int2",
    IntegerType(2, Signedness.UNSIGNED): "uint2",
    IntegerType(4): "int4",
    IntegerType(4, Signedness.UNSIGNED): "uint4",
}
"""The names of the types in `ml_dtypes`."""

_BITS = {element: IntegerType(16 if element == bf16 else 8) for element in NARROW}


def is_narrow(element_type: Attribute) -> bool:
    """Return whether tensors only store elements of this type."""
    return element_type in NARROW


def bits_type(element_type: Attribute) -> IntegerType:
    """Return the integer type that holds the bits of a narrow element on a device."""
    return _BITS[element_type]


def is_narrow_integer(element_type: Attribute) -> bool:
    """Return whether this is an integer type of less than 8 bits, other than i1."""
    return "int" in NARROW.get(element_type, "")


def wide_type(element_type: Attribute) -> Attribute:
    """Return the type that holds all numbers of a narrow type and computes with them."""
    if not is_narrow_integer(element_type):
        return f32
    is_unsigned = NARROW[element_type].startswith("u")
    return IntegerType(8, Signedness.UNSIGNED) if is_unsigned else i8
