"""Lays arrays out in memory: in blocks, permuted, with zeros in the tails."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir.affine import AffineExpr, AffineMap

from ..dialects.nn import Array
from ..dialects.tir import Part, coarsest_first, layout_part
from ..errors import CloptError


def pack(array: Array, layout: AffineMap, shape: Sequence[int]) -> Array:
    """`packed[layout(i)] = array[i]`, zeros elsewhere; `shape` is the packed shape.

    Each result of the layout is a dimension, or a dimension `floordiv` or `mod` a constant, and the
    results of one dimension together number its elements. This covers blocking, padding and
    permuting; any other map raises CloptError.
    """
    refusal = CloptError(f"{layout} does not lay {array.shape} out as {tuple(shape)}")
    if len(layout.results) != len(shape):
        raise refusal
    parts = [_part(expr, size) for expr, size in zip(layout.results, shape, strict=True)]
    order: list[int] = []
    blocks: list[int] = []
    padding: list[tuple[int, int]] = []
    for dim, size in enumerate(array.shape):
        mine = coarsest_first(parts, dim)
        sizes = [shape[i] for i in mine]
        if any(parts[i].step != prod(sizes[n + 1 :]) for n, i in enumerate(mine)):
            raise refusal
        padding.append((0, prod(sizes) - size))
        order += mine
        blocks += sizes
    if len(order) != len(shape) or any(after < 0 for _, after in padding):
        raise refusal
    if any(after for _, after in padding):
        array = np.pad(array, padding)
    return np.ascontiguousarray(array.reshape(blocks).transpose(np.argsort(order)))


def _part(expr: AffineExpr, size: int) -> Part:
    """The part of a dimension that a result of a layout takes; CloptError if it is no block."""
    part = layout_part(expr)
    if part is None or part.block not in (None, size):
        raise CloptError(f"a layout takes dimensions apart, {expr} does more")
    return part
