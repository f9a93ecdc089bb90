"""Averages of int8 as a sum, a product and a shift, exact like division and rounding."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from xdsl.utils.exceptions import VerifyException

from ....dialects.vta.layers import IMMEDIATE, MAX_SHIFT

MOST_ELEMENTS = 1 << 12
"""Elements of the largest window, for which all possible sums are tested."""


@dataclass(frozen=True)
class Division:
    """`(sum * multiplier + offset + half) >> shift`, where `half` makes the shift round half up."""

    multiplier: int
    offset: int
    shift: int


def division_of(count: int, exponent: int) -> Division:
    """Return the division that computes `sum / count * 2^exponent`, with halves rounded up.

    It is exact for all sums of `count` int8 values whose result fits int8, and the others saturate.
    Raise VerifyException with one sentence if there is none.
    """
    if count > MOST_ELEMENTS:
        raise VerifyException(f"VTA averages at most {MOST_ELEMENTS} elements, not {count}")
    ratio = Fraction(2) ** exponent / count
    sums = np.arange(-128 * count, 127 * count + 1)
    # In int64: all terms are far below 2^63, since no multiplier exists for exponents beyond 30.
    if abs(exponent) <= MAX_SHIFT:
        top, bottom = ratio.numerator, ratio.denominator
        wanted = np.clip((2 * sums * top + bottom) // (2 * bottom), -128, 127)
        for shift in range(MAX_SHIFT, -1, -1):
            found = _with_shift(ratio, count, shift)
            if found is not None and np.array_equal(_computed(found, sums), wanted):
                return found
    raise VerifyException(
        f"no multiplier of 16 bits divides by {count} exactly for the scales, which differ by "
        f"2^{exponent}"
    )


def _with_shift(ratio: Fraction, count: int, shift: int) -> Division | None:
    exact = ratio * 2**shift
    multiplier = round(exact)
    # The rounded multiplier makes products too large or too small, and ties must round up: the
    # offset is the largest error. Larger sums saturate.
    reach = min(128 * count, ceil(129 / ratio))
    offset = ceil(abs(multiplier - exact) * reach)
    if not multiplier or not {multiplier, offset} <= set(IMMEDIATE):
        return None
    half = 1 << shift - 1 if shift else 0
    if 128 * count * multiplier + offset + half >= 1 << 31:
        return None
    return Division(multiplier, offset, shift)


def _computed(division: Division, sums: np.ndarray) -> np.ndarray:
    half = 1 << division.shift - 1 if division.shift else 0
    products = sums * division.multiplier + division.offset + half
    return np.clip(products >> division.shift, -128, 127)
