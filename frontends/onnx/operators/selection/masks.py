"""NonZero, Compress and Unique: only the device knows how many elements they select."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i1, i32, i64
from xdsl.ir import SSAValue

from .....dialects import nn
from .....dialects.nn.types import is_float, shape_of, tensor_type
from ....builder import Builder, array_size
from ...data_sizes import sized
from ...node import NodeContext, Table


def prefix_counts(builder: Builder, mask: SSAValue) -> SSAValue:
    """Return the inclusive running count of the set elements of a mask [n], as i32.

    Rows of about sqrt(n) elements are summed first, then the totals of rows: a running sum of n
    elements takes n^2 additions.
    """
    (count,) = shape_of(mask)
    columns = math.isqrt(max(count - 1, 0)) + 1
    rows = -(-count // columns)
    ones = builder.cast(mask, i32)
    if rows * columns > count:
        tail = builder.constant(np.zeros(rows * columns - count, np.int32))
        ones = builder.concat([ones, tail], 0)
    within = builder.add(nn.CumsumOp(builder.reshape(ones, (rows, columns)), 1))
    totals = builder.slice(within, 1, columns - 1, 1)
    before = builder.binary("sub", builder.add(nn.CumsumOp(totals, 0)), totals)
    counts = builder.reshape(builder.binary("add", within, before), (rows * columns,))
    return builder.slice(counts, 0, 0, count)


def selected(builder: Builder, mask: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return the positions of the set elements of a mask [n], then n - 1, and their number.

    The position of the k-th one is found by binary search in the counts.
    """
    (count,) = shape_of(mask)
    counts = prefix_counts(builder, mask)
    wanted = builder.cast(builder.positions(count, 0, 1), i32)
    place = builder.constant(np.zeros(count, np.int32))
    step = 1 << max(count.bit_length() - 1, 0)
    while step:
        next_place = builder.binary("add", place, step)
        last = builder.add(nn.ClipOp(builder.binary("sub", next_place, 1), 0, count - 1))
        skipped = builder.compare("le", builder.gather(counts, last, 0), wanted)
        fits = builder.compare("le", next_place, count)
        place = builder.where(builder.binary("and", skipped, fits), next_place, place)
        step //= 2
    place = builder.cast(builder.add(nn.ClipOp(place, 0, count - 1)), i64)
    total = builder.cast(builder.slice(counts, 0, count - 1, 1), i64)
    return place, builder.reshape(total, ())


def import_non_zero(node: NodeContext) -> SSAValue:
    """Import NonZero: the coordinates of the elements that are not zero, [rank, count]."""
    builder, x = node.builder, node.input(0)
    array = builder.known(x)
    if node.rank() == 0:
        node.refuse("its input must not be a scalar.")
    if array is not None or not array_size(x):
        array = np.zeros(node.shape(), np.bool_) if array is None else array
        return builder.constant(np.stack(array.nonzero()).astype(np.int64))
    mask = x if tensor_type(x).element_type == i1 else builder.compare("ne", x, 0)
    places, count = selected(builder, builder.reshape(mask, (array_size(x),)))
    rows: list[SSAValue] = []
    stride = array_size(x)
    for size in node.shape():
        stride //= size
        row = builder.binary("mod", builder.binary("div", places, stride), size)
        rows.append(builder.reshape(row, (1, array_size(x))))
    return sized(builder, builder.concat(rows, 0), 1, count)


def import_compress(node: NodeContext) -> SSAValue:
    """Import Compress as a gather of the elements whose condition holds."""
    builder, x, condition = node.builder, node.input(0), node.input(1)
    axis = 0
    if node.has("axis"):
        axis = node.axis(node.integer("axis"), node.rank())
    else:
        x = builder.reshape(x, (array_size(x),))
    condition = builder.reshape(condition, (array_size(condition),))
    if builder.known(condition) is None and not builder.deciding_inputs(condition):
        if array_size(condition) > shape_of(x)[axis]:
            node.refuse("its condition is longer than the axis.")
        places, count = selected(builder, condition)
        return sized(builder, builder.gather(x, places, axis), axis, count)
    sentence = "the size of its result depends on run-time values of its condition."
    (chosen,) = np.nonzero(node.known(condition, sentence))
    if chosen.size and chosen[-1] >= shape_of(x)[axis]:
        node.refuse("its condition is longer than the axis.")
    return builder.gather(x, builder.constant(chosen.astype(np.int64)), axis)


def sort_order(builder: Builder, keys: SSAValue) -> SSAValue:
    """Return the positions of keys [n] in ascending order; equal ones keep their order."""
    (count,) = shape_of(keys)
    _, order = builder.add_all(nn.TopKOp(keys, count, 0, largest=False))
    return order


def _differ(builder: Builder, a: SSAValue, b: SSAValue) -> SSAValue:
    """Return whether two keys differ; NaNs are equal."""
    differ = builder.compare("ne", a, b)
    if not is_float(tensor_type(a).element_type):
        return differ
    both = builder.binary("and", builder.unary("isnan", a), builder.unary("isnan", b))
    return builder.binary("and", differ, builder.unary("logical_not", both))


def _less(builder: Builder, a: SSAValue, b: SSAValue) -> SSAValue:
    """Return whether a precedes b; NaN comes last."""
    less = builder.compare("lt", a, b)
    if not is_float(tensor_type(a).element_type):
        return less
    number = builder.unary("logical_not", builder.unary("isnan", a))
    return builder.binary("or", less, builder.binary("and", number, builder.unary("isnan", b)))


def _row_order(builder: Builder, rows: SSAValue) -> SSAValue:
    """Return the positions of rows [n, m] in lexicographic order; equal ones keep their order."""
    count, width = shape_of(rows)
    if width == 1:
        return sort_order(builder, builder.reshape(rows, (count,)))
    builder.reserve(count, count)
    mine, other = (builder.reshape(rows, shape) for shape in ((count, 1, width), (1, count, width)))
    differ = builder.cast(_differ(builder, mine, other), i32)
    first = builder.add(nn.ArgReduceOp(differ, "max", 2, False, False))
    a = builder.add(nn.GatherElementsOp(rows, first, 1))
    b = builder.transpose(a, (1, 0))
    earlier = builder.constant(np.tri(count, k=-1, dtype=np.bool_))
    ties = builder.binary("and", earlier, builder.unary("logical_not", _differ(builder, a, b)))
    precedes = builder.binary("or", _less(builder, b, a), ties)
    ranks = builder.reduce("sum", builder.cast(precedes, i32), [1], keepdims=False)
    return sort_order(builder, ranks)


def _run_starts(builder: Builder, rows: SSAValue) -> SSAValue:
    """Return the mask of the sorted rows [n, m] that differ from the row before."""
    count = shape_of(rows)[0]
    first = builder.constant(np.ones(1, np.bool_))
    if count == 1:
        return first
    before = builder.slice(rows, 0, 0, count - 1)
    differ = _differ(builder, builder.slice(rows, 0, 1, count - 1), before)
    any_ = builder.reduce("max", builder.cast(differ, i32), [1], keepdims=False)
    return builder.concat([first, builder.compare("ne", any_, 0)], 0)


def import_unique(node: NodeContext) -> Sequence[SSAValue]:
    """Import Unique: sort, and select the first of each run of equal elements or slices."""
    builder, x = node.builder, node.input(0)
    in_order = node.flag("sorted", True)
    axis = node.axis(node.integer("axis"), node.rank()) if node.has("axis") else None
    if axis is None:
        x, axis = builder.reshape(x, (array_size(x),)), 0
    rank, count = len(shape_of(x)), shape_of(x)[axis]
    if not array_size(x):
        node.refuse("its input has no elements.")
    moved = builder.transpose(x, [axis, *(i for i in range(rank) if i != axis)])
    keys = builder.reshape(moved, (count, array_size(x) // count))
    if tensor_type(keys).element_type == i1:
        keys = builder.cast(keys, i32)
    order = _row_order(builder, keys)
    starts = _run_starts(builder, builder.gather(keys, order, 0))
    places, total = selected(builder, starts)
    is_run = builder.compare("lt", builder.positions(count, 0, 1), total)
    begins = builder.where(is_run, places, builder.scalar(count, places))
    last = builder.constant(np.full(1, count, np.int64))
    ends = builder.concat([builder.slice(begins, 0, 1, count - 1), last], 0) if count > 1 else last
    counts, firsts = builder.binary("sub", ends, begins), builder.gather(order, places, 0)
    runs = builder.binary("sub", builder.cast(prefix_counts(builder, starts), i64), 1)
    inverse = builder.gather(runs, sort_order(builder, order), 0)
    if not in_order:
        later = builder.positions(count, 0, 1)
        keys = builder.where(is_run, firsts, builder.binary("add", later, count))
        by_place = sort_order(builder, keys)
        counts, firsts = (builder.gather(each, by_place, 0) for each in (counts, firsts))
        inverse = builder.gather(sort_order(builder, by_place), inverse, 0)
    values = builder.gather(x, firsts, axis)
    return [
        sized(builder, values, axis, total),
        sized(builder, firsts, 0, total),
        inverse,
        sized(builder, counts, 0, total),
    ]


TABLE: Table = {
    "Compress": {9: import_compress},
    "NonZero": {9: import_non_zero},
    "Unique": {11: import_unique},
}
