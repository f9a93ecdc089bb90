"""Sums of products as matrix products and convolutions, for any order of axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from ...dialects.nn.types import shape_of
from ..builder import Builder
from .bodies import Fold, Structured
from .convolutions import convolve
from .products import converted
from .reductions import combined
from .views import NotNamedError, Operand, TensorView, in_frame, ordered


def contract(builder: Builder, op: Structured, fold: Fold) -> TensorView:
    """Import a sum of products of two inputs; raise NotNamedError if nn has no such product."""
    factors = fold.factors
    if factors is None or any(factor not in op.arguments for factor in factors):
        raise NotNamedError
    a, b = (op.inputs[op.block.args.index(factor)] for factor in factors)
    try:
        operands = a.operand, b.operand
    except NotNamedError:
        return convolve(builder, op, a, b)
    return _multiply(builder, op, *operands)


def _multiply(builder: Builder, op: Structured, a: Operand, b: Operand) -> TensorView:
    """Append a matrix product; loops shared by both operands and the result are its batch."""
    if builder.known(a.view.value) is not None and builder.known(b.view.value) is None:
        a, b = b, a  # weights stand on the right
    # A loop of one iteration is not an axis: weights without a batch stay a matrix.
    many = {loop for loop, extent in enumerate(op.extents) if extent != 1}
    written = set(op.written_loops) & many
    in_a, in_b = ({loop for loop in x.loops if loop in many} for x in (a, b))
    batch = _order(a, in_a & in_b & written)
    rows, columns = _order(a, in_a - in_b), _order(b, in_b - in_a)
    depth = _order(a, (in_a & in_b) - written)
    is_product = bool(depth) and bool(rows or columns) and written >= {*rows, *columns}
    if not is_product or set(depth) != set(op.reduced_loops) & many:
        raise NotNamedError
    (output,) = op.outputs
    sizes = [[op.extents[loop] for loop in loops] for loops in (batch, rows, depth, columns)]
    batch_sizes, row_sizes, depth_sizes, column_sizes = sizes
    # Several row axes become one: the batch dimensions of matmul must agree on both sides.
    above = row_sizes if len(rows) == 1 or (rows and not batch) else [prod(row_sizes)]
    left = ordered(builder, a, [*batch, *rows, *depth])
    left = _reshaped(builder, left, [batch, rows, depth], [*batch_sizes, *above, prod(depth_sizes)])
    right = ordered(builder, b, [*batch, *depth, *columns])
    right_sizes = [*batch_sizes, prod(depth_sizes), prod(column_sizes)]
    right = _reshaped(builder, right, [batch, depth, columns], right_sizes)
    result = builder.matmul(*converted(builder, left, right, output.view.element_type))
    lead = len(shape_of(result)) - len(batch) - len(above) - 1
    shape = [*[1] * lead, *batch_sizes, *row_sizes, *column_sizes]
    result = builder.reshape(result, shape)
    frame = [*[None] * lead, *batch, *rows, *columns]
    view = in_frame(result, frame, output.operand.loops, output.view.shape)
    return combined(builder, "sum", view, output.view)


def _order(operand: Operand, loops: set[int]) -> list[int]:
    """Return loops in the order of the axes that they walk."""
    places = operand.places()
    return sorted(loops, key=lambda loop: (places.get(loop, -1), loop))


def _reshaped(
    builder: Builder, value: SSAValue, loops: Sequence[Sequence[int]], shape: Sequence[int]
) -> SSAValue:
    """Reshape a value that has one axis per loop, after at most one leading axis."""
    axes = len(shape_of(value))
    lead = min(axes - sum(map(len, loops)), max(axes - len(shape), 0), 1)
    return builder.reshape(value, [*[1] * lead, *shape])
