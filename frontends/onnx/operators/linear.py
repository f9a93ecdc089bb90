"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import shape_of
from ...builder import Builder, dtype_of_value
from ..node import NodeContext, Table


def matmul(builder: Builder, a: SSAValue, b: SSAValue) -> SSAValue:
    """Multiply as numpy.matmul: vectors are matrices of one row or column, which is dropped."""
    rows, columns = len(shape_of(a)) == 1, len(shape_of(b)) == 1
    left = builder.reshape(a, (1, *shape_of(a))) if rows else a
    right = builder.reshape(b, (*shape_of(b), 1)) if columns else b
    product = builder.matmul(left, right)
    shape = list(shape_of(product))
    if columns:
        del shape[-1]
    if rows:
        del shape[-1 if columns else -2]
    return builder.reshape(product, shape)


def import_matmul(node: NodeContext) -> SSAValue:
    """Import MatMul."""
    if node.rank(0) == 0 or node.rank(1) == 0:
        node.refuse("its inputs must not be scalars.")
    return matmul(node.builder, node.input(0), node.input(1))


def import_gemm(node: NodeContext) -> SSAValue:
    """Import Gemm: alpha A B + beta C."""
    builder, c = node.builder, node.optional(2)
    if node.rank(0) != 2 or node.rank(1) != 2:
        node.refuse("its inputs must be two matrices.")
    alpha, beta = node.real("alpha", 1.0), node.real("beta", 1.0)
    result = builder.matmul(node.input(0), node.input(1), node.flag("transA"), node.flag("transB"))
    if alpha != 1.0:
        result = builder.binary("mul", result, alpha)
    if c is None or beta == 0.0:
        return result
    if beta != 1.0:
        c = builder.binary("mul", c, beta)
    shape = shape_of(result)
    result = builder.binary("add", result, c)
    if shape_of(result) != shape:
        node.refuse(f"C of shape {list(shape_of(c))} does not broadcast to {list(shape)}.")
    return result


def import_gemm_6(node: NodeContext) -> SSAValue:
    """Import Gemm of opset 6, whose C broadcasts only if `broadcast` is set.

    The attribute is not needed: C is broadcast to the result either way.
    """
    node.flag("broadcast")
    return import_gemm(node)


MAX_DETERMINANT = 64
"""Rows of the largest matrix whose determinant is expanded into an elimination step per row."""


def import_det(node: NodeContext) -> SSAValue:
    """Import Det: the product of the pivots of a Gaussian elimination with row exchanges."""
    builder, x = node.builder, node.input(0)
    *batch, rows, size = node.shape() if node.rank() >= 2 else (0, 1)
    if rows != size or not 1 <= size <= MAX_DETERMINANT:
        node.refuse(f"its input must hold square matrices of 1 to {MAX_DETERMINANT} rows.")
    product = builder.constant(np.ones((*batch, 1, 1), dtype_of_value(x)))
    while size > 1:
        x, pivot = _eliminate(builder, x, batch, size)
        product = builder.binary("mul", product, pivot)
        size -= 1
    return builder.reshape(builder.binary("mul", product, x), batch)


def _eliminate(
    builder: Builder, x: SSAValue, batch: Sequence[int], size: int
) -> tuple[SSAValue, SSAValue]:
    """Return [..., size - 1, size - 1], the matrices without their first column, and the pivot.

    The pivot is the largest element of the column, with a minus if its row was exchanged.
    """
    rank = len(batch) + 2
    column = builder.slice(x, rank - 1, 0, 1)
    place = builder.add(nn.ArgReduceOp(builder.unary("abs", column), "max", rank - 2, True, False))
    is_pivot = builder.compare("eq", builder.positions(size, rank - 2, rank), place)
    everywhere = builder.expand(place, (*batch, 1, size))
    row = builder.add(nn.GatherElementsOp(x, everywhere, rank - 2))
    first = builder.slice(x, rank - 2, 0, 1)
    rest = builder.slice(builder.where(is_pivot, first, x), rank - 2, 1, size - 1)
    pivot, column = builder.slice(row, rank - 1, 0, 1), builder.slice(rest, rank - 1, 0, 1)
    # A column of zeros makes the product zero; its quotients would be NaN.
    divisor = builder.where(builder.compare("eq", pivot, 0), builder.scalar(1, x), pivot)
    factor = builder.binary("div", column, divisor)
    row, rest = (builder.slice(each, rank - 1, 1, size - 1) for each in (row, rest))
    reduced = builder.binary("sub", rest, builder.binary("mul", factor, row))
    sign = builder.compare("eq", place, 0)
    return reduced, builder.where(sign, pivot, builder.unary("neg", pivot))


MAX_INVERTED = 64
"""Rows of the largest matrix to invert; each is about fifteen operations."""


def inverted(builder: Builder, x: SSAValue) -> SSAValue:
    """Invert matrices by Gauss-Jordan elimination with the largest pivot of each column."""
    shape = shape_of(x)
    rank, size = len(shape), shape[-1]
    unit = builder.constant(np.eye(size, dtype=dtype_of_value(x)))
    state = builder.concat([x, builder.expand(unit, shape)], rank - 1)
    for step in range(size):
        state = _column_cleared(builder, state, step)
    return builder.slice(state, rank - 1, size, size)


def _column_cleared(builder: Builder, state: SSAValue, step: int) -> SSAValue:
    """Make the column `step` of [rows, 2 * rows] a unit vector by operations on rows."""
    shape = shape_of(state)
    rank, size = len(shape), shape[-2]
    places = builder.positions(size, rank - 2, rank)
    is_step = builder.compare("eq", places, step)
    magnitude = builder.unary("abs", builder.slice(state, rank - 1, step, 1))
    is_open = builder.compare("ge", places, step)
    magnitude = builder.where(is_open, magnitude, builder.scalar(-1, magnitude))
    pivot = builder.add(nn.ArgReduceOp(magnitude, "max", rank - 2, keepdims=True))
    here = builder.constant(np.array(step))
    source = builder.where(builder.compare("eq", places, pivot), here, places)
    source = builder.expand(builder.where(is_step, pivot, source), shape)
    state = builder.add(nn.GatherElementsOp(state, source, rank - 2))
    row = builder.slice(state, rank - 2, step, 1)
    row = builder.binary("div", row, builder.slice(row, rank - 1, step, 1))
    product = builder.binary("mul", builder.slice(state, rank - 1, step, 1), row)
    return builder.where(is_step, row, builder.binary("sub", state, product))


TABLE: Table = {
    "Det": {11: import_det},
    "Gemm": {6: import_gemm_6, 7: import_gemm},
    "MatMul": {1: import_matmul},
}
