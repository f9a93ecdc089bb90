"""Packing of arrays: blocked, permuted and zero-padded layouts."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir.affine import AffineExpr, AffineMap

from ..dialects.nn import Array
from ..dialects.tir import Part, coarsest_first, layout_part
from ..errors import CloptError


def pack(array: Array, layout: AffineMap, shape: Sequence[int]) -> Array:
    """Return `packed` of `shape` with `packed[layout(i)] = array[i]` and zeros elsewhere.

    Each result of `layout` is a dimension, or a dimension `floordiv` or `mod` a constant, and the
    results of one dimension together enumerate its elements. This covers blocking, padding and
    permuting. Raise CloptError for any other map.
    """
    refusal = CloptError(f"{layout} does not lay {array.shape} out as {tuple(shape)}")
    if len(layout.results) != len(shape):
        raise refusal
    parts = [_part(expr, size) for expr, size in zip(layout.results, shape, strict=True)]
    order: list[int] = []
    blocks: list[int] = []
    padding: list[tuple[int, int]] = []
    for dim, size in enumerate(array.shape):
        results = coarsest_first(parts, dim)
        sizes = [shape[i] for i in results]
        if any(parts[i].step != prod(sizes[n + 1 :]) for n, i in enumerate(results)):
            raise refusal
        padding.append((0, prod(sizes) - size))
        order += results
        blocks += sizes
    if len(order) != len(shape) or any(after < 0 for _, after in padding):
        raise refusal
    if any(after for _, after in padding):
        array = np.pad(array, padding)
    return np.ascontiguousarray(array.reshape(blocks).transpose(np.argsort(order)))


def _part(expr: AffineExpr, size: int) -> Part:
    """Return the part of a dimension that a layout's result selects.

    Raise CloptError if the expression is not a block of a dimension.
    """
    part = layout_part(expr)
    if part is None or part.block not in (None, size):
        raise CloptError(f"a result of a layout must be a block of one dimension, got {expr}")
    return part
