"""Types of the buffers and images that hold tensors on a device."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import IntegerType, MemRefType, NoneAttr, Signedness
from xdsl.ir import Attribute

from ..narrow import bits_type, is_narrow
from .layout import LayoutAttr
from .types import Tensor, is_element_type, is_float

_SIGNED = {IntegerType(width, Signedness.SIGNED) for width in (8, 16, 32, 64)}
"""Element types that only functions of other dialects have."""


def storage_type(element_type: Attribute) -> Attribute:
    """Return the element type of a buffer; `arith` and kernels are signless."""
    if is_float(element_type):
        return element_type
    if is_narrow(element_type):
        return bits_type(element_type)
    return IntegerType(cast("IntegerType", element_type).bitwidth)


def can_hold(type: Tensor) -> bool:
    """Return whether a buffer of a program can hold a tensor of this type."""
    element, has_layout = type.element_type, isinstance(type.encoding, NoneAttr | LayoutAttr)
    known = is_element_type(element) or element in _SIGNED
    return known and type.has_static_shape() and has_layout


# Constructing a type verifies it; networks use few distinct types.
@lru_cache(maxsize=4096)
def buffer_type(type: Tensor) -> MemRefType:
    """Return the type of the buffer that holds a tensor in its layout on the device."""
    shape, layout = type.get_shape(), type.encoding
    element = storage_type(type.element_type)
    if not isinstance(layout, LayoutAttr):
        return MemRefType(element, shape)
    return MemRefType(element, layout.physical_shape(shape), NoneAttr(), layout.memory)
