"""Tensor types of the nn dialect: numpy correspondence, broadcasting, element classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import (
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    TensorType,
    f16,
    f32,
    f64,
    i1,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...ml_types import narrow_dtype
from ..narrow import NARROW

Tensor: TypeAlias = TensorType[Attribute]
"""A tensor type of static shape."""

AnyFloatType: TypeAlias = Float16Type | Float32Type | Float64Type
"""The floating point element types of nn."""

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""A numpy array of any shape and element type."""

_NUMPY: dict[Attribute, np.dtype[Any]] = {
    f16: np.dtype(np.float16),
    f32: np.dtype(np.float32),
    f64: np.dtype(np.float64),
    i1: np.dtype(np.bool_),
    **{IntegerType(n): np.dtype(f"i{n // 8}") for n in (8, 16, 32, 64)},
    **{IntegerType(n, Signedness.UNSIGNED): np.dtype(f"u{n // 8}") for n in (8, 16, 32, 64)},
}
_ELEMENT: dict[np.dtype[Any], Attribute] = {dtype: type for type, dtype in _NUMPY.items()}
_NOT_INTEGERS = {i1, *NARROW}
_NARROW_BY_NAME = {name: type for type, name in NARROW.items()}


def numpy_dtype(element_type: Attribute) -> np.dtype[Any]:
    """Return the numpy type of an element type."""
    if element_type in _NUMPY:
        return _NUMPY[element_type]
    if element_type in NARROW:
        return narrow_dtype(NARROW[element_type])
    raise VerifyException(f"{element_type} is not an element type of nn tensors")


def is_element_type(type: Attribute) -> bool:
    """Return whether nn tensors can have elements of this type."""
    return type in _NUMPY or type in NARROW


def element_type(dtype: np.dtype[Any] | type[np.generic]) -> Attribute:
    """Return the element type of a numpy type."""
    dtype = np.dtype(dtype)
    if dtype in _ELEMENT:
        return _ELEMENT[dtype]
    if dtype.name in _NARROW_BY_NAME:
        return _NARROW_BY_NAME[dtype.name]
    raise VerifyException(f"numpy type {dtype} has no element type in nn tensors")


def array_type(array: Array) -> Tensor:
    """Return the tensor type of a numpy array."""
    return TensorType(element_type(array.dtype), array.shape)


def tensor_type(value: SSAValue) -> Tensor:
    """Return the tensor type of a value; raise VerifyException if it is not a tensor."""
    type: Attribute = value.type
    if not isinstance(type, TensorType):
        raise VerifyException(f"operand of type {type} is not a tensor")
    return cast(Tensor, type)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """Return the shape of a tensor value."""
    return tensor_type(value).get_shape()


def count(shape: Sequence[int]) -> int:
    """Return the number of elements of a shape."""
    return math.prod(shape)


def is_float(element_type: Attribute) -> bool:
    """Return whether the element type is a floating point type."""
    return isinstance(element_type, Float16Type | Float32Type | Float64Type)


def is_bool(element_type: Attribute) -> bool:
    """Return whether the element type is i1."""
    return element_type == i1


def is_integer(element_type: Attribute) -> bool:
    """Return whether the element type is an integer of 8 bits or more."""
    return isinstance(element_type, IntegerType) and element_type not in _NOT_INTEGERS


def is_unsigned(element_type: Attribute) -> bool:
    """Return whether the element type is an unsigned integer."""
    return is_integer(element_type) and numpy_dtype(element_type).kind == "u"


def with_shape(type: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the tensor type with the same elements and another shape."""
    return TensorType(type.element_type, shape)


def broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the numpy broadcast of shapes."""
    rank = max((len(s) for s in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for i, n in enumerate(shape, rank - len(shape)):
            if n == 1 or n == result[i]:
                continue
            if result[i] != 1:
                text = " and ".join("x".join(map(str, s)) or "scalar" for s in shapes)
                raise VerifyException(f"shapes {text} do not broadcast")
            result[i] = n
    return tuple(result)


def matching_groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[range, range]]:
    """Split two shapes of equal element count into the shortest runs of axes of equal size.

    A reshape from one shape to the other keeps the elements of each run together.
    """
    if 0 in old:
        return [(range(len(old)), range(len(new)))]
    groups: list[tuple[range, range]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        first, second = i, j
        left = right = 1
        while first == i or second == j or left != right:
            if (left <= right and i < len(old)) or j == len(new):
                if i == len(old):
                    break
                left *= old[i]
                i += 1
            else:
                right *= new[j]
                j += 1
        groups.append((range(first, i), range(second, j)))
    return groups


def kept_axis(
    old_shape: Sequence[int], new_shape: Sequence[int], old: range, new: range
) -> tuple[int, int] | None:
    """Return the axis, before and after, that a group of a reshape keeps, or None.

    A group keeps an axis if all its other axes have one element.
    """
    before = [axis for axis in old if old_shape[axis] != 1 or len(old) == 1]
    after = [axis for axis in new if new_shape[axis] != 1 or len(new) == 1]
    if len(before) == len(after) == 1 and old_shape[before[0]] == new_shape[after[0]]:
        return before[0], after[0]
    return None
