"""The indices at which a tensor for smaller sizes lies in the tensor for larger ones.

Each axis is a sequence of digits, outermost first, with an extent in the smaller and one in the
larger tensor. An element keeps its digits. An axis with one digit is a beginning of the larger one.
The rows of a tensor of shape 5x3x8 that becomes 15x8 have the digits 5 and 3; with 4 in place of 3,
row 3 of the smaller tensor is row 4 of the larger one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod
from typing import Any, TypeAlias

import numpy as np

Digit: TypeAlias = tuple[int, int]
"""The extents of a digit in the smaller and in the larger tensor."""

Axis: TypeAlias = tuple[Digit, ...]
"""The digits of an axis; empty for an axis of one element in both tensors."""

Parts: TypeAlias = Sequence[tuple[Axis, ...]]
"""The axes of several tensors."""


def axis_of(digits: Sequence[Digit]) -> Axis:
    """Return an axis with as few digits as possible."""
    merged: list[Digit] = []
    for small, large in digits:
        if small == large == 1:
            continue
        if merged and small == large:
            outer = merged.pop()
            merged.append((outer[0] * small, outer[1] * large))
        else:
            merged.append((small, large))
    return tuple(merged)


def beginnings(small: Sequence[int], large: Sequence[int]) -> tuple[Axis, ...]:
    """Return the axes of a tensor at the beginning of each axis of a larger one."""
    return tuple(axis_of([extents]) for extents in zip(small, large, strict=True))


def extents_of(axis: Axis) -> tuple[int, int]:
    """Return the extents of an axis in the smaller and in the larger tensor."""
    return prod(small for small, _ in axis), prod(large for _, large in axis)


def keeps_indices(axis: Axis) -> bool:
    """Return whether elements have the same index on both axes."""
    return len(axis) <= 1


def positions(axis: Axis) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the index in the larger tensor of each element of an axis of the smaller one."""
    found = np.zeros(1, np.int64)
    for small, large in axis:
        found = (found[:, None] * large + np.arange(small)).reshape(-1)
    return found


def reshaped(
    axes: Sequence[Axis], small: Sequence[int], large: Sequence[int]
) -> tuple[Axis, ...] | None:
    """Return the axes after reshapes to the two shapes, which keep the order of the elements.

    Return None if digits would be divided at different places.
    """
    if 0 in (*small, *large):
        return None
    left = [*axis_of([digit for axis in axes for digit in axis])]
    found: list[Axis] = []
    for wanted in zip(reversed(small), reversed(large), strict=True):
        digits: list[Digit] = []
        while wanted != (1, 1):
            if not left or (digit := _inner(left, wanted)) is None:
                return None
            digits.insert(0, digit)
            wanted = (wanted[0] // digit[0], wanted[1] // digit[1])
        found.append(axis_of(digits))
    return tuple(reversed(found)) if not left else None


def _inner(left: list[Digit], wanted: Digit) -> Digit | None:
    """Take the innermost digit that is left, or an inner part of it, that divides `wanted`."""
    small, large = left.pop()
    if not wanted[0] % small and not wanted[1] % large:
        return small, large
    inner = gcd(small, large, *wanted)
    if inner == 1:
        return None
    left.append((small // inner, large // inner))
    return inner, inner
