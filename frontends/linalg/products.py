"""The factors of products."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from ...dialects.nn.types import is_integer, numpy_dtype, tensor_type
from ..builder import Builder


def converted(
    builder: Builder, left: SSAValue, right: SSAValue, to: Attribute
) -> tuple[SSAValue, SSAValue]:
    """The factors in the type of their sums; bytes stay, as nn adds up their products as i32."""
    types = [tensor_type(value).element_type for value in (left, right)]
    if all(is_integer(type) and numpy_dtype(type).itemsize == 1 for type in types):
        return left, right
    return builder.cast(left, to), builder.cast(right, to)
