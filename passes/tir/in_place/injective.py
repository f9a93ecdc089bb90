"""A test whether index expressions map distinct points to distinct values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np
from xdsl.ir.affine import AffineExpr

_MOST_POINTS = 1 << 20
_MOST_NUMBERS = 1 << 62


def is_injective(exprs: Sequence[AffineExpr], extents: Mapping[int, int]) -> bool:
    """Return whether distinct points of the box `extents` differ in `exprs`, by trying all.

    `extents` has every dimension of `exprs`. Return False if there are too many points.
    """
    points = prod(extents.values())
    if points > _MOST_POINTS:
        return False
    places = np.indices(tuple(extents.values()), np.int64).reshape(len(extents), points)
    values: list[np.ndarray] = [np.zeros(points, np.int64)] * (1 + max(extents))
    for dim, place in zip(extents, places, strict=True):
        values[dim] = place
    numbers, count = np.zeros(points, np.int64), 1
    for expr in exprs:
        row = _evaluated(expr, values)
        low, high = int(row.min()), int(row.max())
        count *= high - low + 1
        if count > _MOST_NUMBERS:
            return False
        numbers = numbers * (high - low + 1) + (row - low)
    return len(np.unique(numbers)) == points


def _evaluated(expr: AffineExpr, values: Sequence[np.ndarray]) -> np.ndarray:
    # `eval` only adds, multiplies and divides, so it accepts arrays as well as integers.
    return expr.eval(values, ())  # pyright: ignore[reportArgumentType, reportReturnType]
