"""Conversions from and to element types that tensors only store, in integer arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

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
    i32,
)
from xdsl.ir import Attribute

from ....dialects.narrow import bits_type, is_narrow, is_narrow_integer, wide_type
from .scalar import ScalarValue

_U32 = IntegerType(32, Signedness.UNSIGNED)
_U8 = IntegerType(8, Signedness.UNSIGNED)
_MANTISSA = 23
_BIAS = 127
_SIGN = 31
_INFINITY = 0x7F800000
_NAN = 0x7FC00000


@dataclass(frozen=True)
class FloatFormat:
    """The bits of a narrow float: sign, exponent, mantissa; codes are without the sign."""

    width: int
    mantissa: int
    bias: int
    largest: int
    """The code of the largest finite number."""
    beyond: int
    """The code of a number beyond the range, without saturation: infinity or NaN."""
    nan: int
    """The code that NaN becomes."""
    has_infinity: bool = False
    is_unsigned_zero: bool = False
    """Whether -0 is 0; the code with only the sign bit is then NaN."""

    @property
    def shift(self) -> int:
        """Return how many bits of a float's mantissa are cut off."""
        return _MANTISSA - self.mantissa

    @property
    def least(self) -> int:
        """Return the bits of the smallest normal number as a float."""
        return (_BIAS + 1 - self.bias) << _MANTISSA


FLOATS: Mapping[Attribute, FloatFormat] = {
    bf16: FloatFormat(16, 7, 127, 0x7F7F, 0x7F80, 0x7FC0, has_infinity=True),
    f8E4M3FN: FloatFormat(8, 3, 7, 0x7E, 0x7F, 0x7F),
    f8E4M3FNUZ: FloatFormat(8, 3, 8, 0x7F, 0x80, 0x80, is_unsigned_zero=True),
    f8E5M2: FloatFormat(8, 2, 15, 0x7B, 0x7C, 0x7E, has_infinity=True),
    f8E5M2FNUZ: FloatFormat(8, 2, 16, 0x7F, 0x80, 0x80, is_unsigned_zero=True),
    Float4E2M1FNType(): FloatFormat(4, 1, 1, 0x7, 0x7, 0x8),
}
"""The table of "Cast" in ONNX's operators."""


def convert(x: ScalarValue, to: Attribute, unsaturated: bool = False) -> ScalarValue:
    """Convert like `nn.cast`."""
    if x.element_type == to:
        return x
    if is_narrow(x.element_type):
        x = _integer(x) if is_narrow_integer(x.element_type) else _float(x)
    if not is_narrow(to):
        return x.cast(to)
    if is_narrow_integer(to):
        return _low_bits(x, to)
    return _rounded(x, to, not unsaturated)


def _held(x: ScalarValue, element_type: Attribute) -> ScalarValue:
    """Return the same bits as an element of another type of this size."""
    return ScalarValue(x.body, x.ssa, element_type)


def _integer(x: ScalarValue) -> ScalarValue:
    """Return a narrow integer as one of 8 bits; the unused bits of its byte may hold anything."""
    byte = wide_type(x.element_type)
    unused = 32 - cast("IntegerType", x.element_type).bitwidth
    moved = _held(x, byte).cast(i32).binary("shl", unused)
    return _held(moved, _U32 if byte == _U8 else i32).binary("shr", unused).cast(byte)


def _low_bits(x: ScalarValue, to: Attribute) -> ScalarValue:
    mask = (1 << cast("IntegerType", to).bitwidth) - 1
    return _held(x.cast(i32).binary("and", mask).cast(wide_type(to)), to)


def _unsigned_bits(element_type: Attribute) -> IntegerType:
    return IntegerType(bits_type(element_type).bitwidth, Signedness.UNSIGNED)


def _bits(x: ScalarValue) -> ScalarValue:
    return _held(x.bits(), _U32)


def _float(x: ScalarValue) -> ScalarValue:
    """Return a narrow float as f32; no step meets an f32 subnormal, which devices may flush."""
    form = FLOATS[x.element_type]
    code = _held(x, _unsigned_bits(x.element_type)).cast(_U32)
    if form.width == 16:
        return code.binary("shl", form.shift).as_float()
    magnitude = code.binary("and", (1 << (form.width - 1)) - 1)
    digits = magnitude.binary("shl", form.shift)
    normal = digits + ((_BIAS - form.bias) << _MANTISSA)
    # 1.m - 1.0, both with the exponent of the smallest normal number, is a subnormal's value.
    small = (digits + form.least).as_float() - 2.0 ** (1 - form.bias)
    bits = magnitude.compare("lt", 1 << form.mantissa).select(_bits(small), normal)
    if form.has_infinity:
        bits = magnitude.compare("gt", form.largest).select(bits.binary("or", _INFINITY), bits)
    elif form.is_unsigned_zero:
        bits = code.compare("eq", form.nan).select(x.body.constant(_NAN, _U32), bits)
    elif form.width == 8:
        bits = magnitude.compare("eq", form.nan).select(x.body.constant(_NAN, _U32), bits)
    sign = code.binary("shr", form.width - 1).binary("shl", _SIGN)
    return bits.binary("or", sign).as_float()


def _rounded(x: ScalarValue, to: Attribute, saturates: bool) -> ScalarValue:
    """Return a number as a narrow float, rounded to nearest even."""
    form = FLOATS[to]
    bits = _bits(x.cast(f32))
    magnitude = bits.binary("and", 0x7FFFFFFF)
    tie = magnitude.binary("shr", form.shift).binary("and", 1)
    code = (magnitude + tie + ((1 << (form.shift - 1)) - 1)).binary("shr", form.shift)
    if form.width < 16:
        code = code - ((_BIAS - form.bias) << form.mantissa)
        # A sum with a number whose last bit is the smallest subnormal rounds to subnormals.
        magic = (_BIAS + _MANTISSA + 1 - form.bias - form.mantissa) << _MANTISSA
        grid = x.body.constant(magic, _U32)
        small = _bits(magnitude.as_float() + grid.as_float()) - magic
        code = magnitude.compare("lt", form.least).select(small, code)
        limit = x.body.constant(form.largest if saturates else form.beyond, _U32)
        code = code.compare("gt", form.largest).select(limit, code)
    nan = x.body.constant(form.nan, _U32)
    code = magnitude.compare("gt", _INFINITY).select(nan, code)
    signed = code.binary("or", bits.binary("shr", _SIGN).binary("shl", form.width - 1))
    if form.is_unsigned_zero:
        signed = code.compare("eq", 0).select(code, signed)
    return _held(signed.cast(_unsigned_bits(to)), to)
