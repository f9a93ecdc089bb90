"""Conversion of the factors of integer and float products."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from ...dialects.nn.types import is_integer, numpy_dtype, tensor_type
from ..builder import Builder


def converted(
    builder: Builder, left: SSAValue, right: SSAValue, to: Attribute
) -> tuple[SSAValue, SSAValue]:
    """Cast factors to the type of their sum, except bytes: nn sums their products in i32."""
    types = [tensor_type(value).element_type for value in (left, right)]
    if all(is_integer(type) and numpy_dtype(type).itemsize == 1 for type in types):
        return left, right
    return builder.cast(left, to), builder.cast(right, to)
