"""Arrays as layouts want them in memory: blocked, permuted, with zeros at the tails."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from ..dialects.nn import Array
from ..errors import CloptError


def pack(array: Array, layout: AffineMap, shape: Sequence[int]) -> Array:
    """`packed[layout(i)] = array[i]`, zeros elsewhere; `shape` is the packed shape.

    Each result of the layout is a dimension, or a dimension `floordiv` or `mod` a constant, and the
    results of one dimension together number its elements: blocking, padding and permuting.
    CloptError for another map.
    """
    refusal = CloptError(f"{layout} does not lay {array.shape} out as {tuple(shape)}")
    if len(layout.results) != len(shape):
        raise refusal
    parts = [_part(expr, size) for expr, size in zip(layout.results, shape, strict=True)]
    order: list[int] = []
    blocks: list[int] = []
    padding: list[tuple[int, int]] = []
    for dim, size in enumerate(array.shape):
        # The outermost part of a dimension is the one whose steps hold the most elements.
        mine = sorted(
            (i for i, part in enumerate(parts) if part.dim == dim), key=lambda i: -parts[i].step
        )
        sizes = [shape[i] for i in mine]
        if any(parts[i].step != prod(sizes[n + 1 :]) for n, i in enumerate(mine)):
            raise refusal
        padding.append((0, prod(sizes) - size))
        order += mine
        blocks += sizes
    if len(order) != len(shape) or any(after < 0 for _, after in padding):
        raise refusal
    padded = np.pad(array, padding).reshape(blocks)
    return np.ascontiguousarray(padded.transpose(np.argsort(order)))


class _Part(NamedTuple):
    """One dimension of a packed array: a dimension of the original in steps of some elements."""

    dim: int
    step: int


def _part(expr: AffineExpr, size: int) -> _Part:
    """What a result of a layout takes; CloptError for more than blocking."""
    match expr:
        case AffineDimExpr(position=dim):
            return _Part(dim, 1)
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.FloorDiv,
            lhs=AffineDimExpr(position=dim),
            rhs=AffineConstantExpr(value=block),
        ):
            return _Part(dim, block)
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.Mod,
            lhs=AffineDimExpr(position=dim),
            rhs=AffineConstantExpr(value=block),
        ) if block == size:
            return _Part(dim, 1)
        case _:
            raise CloptError(f"a layout takes dimensions apart, {expr} does more")
