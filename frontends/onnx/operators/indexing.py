"""Gathers, scatters and operators composed of them."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import shape_of
from ...builder import array_size
from ..node import NodeContext, Table

REDUCTIONS = ("none", "add", "mul", "max", "min")


def import_gather(node: NodeContext) -> SSAValue:
    """Import Gather."""
    axis = node.axis(node.integer("axis", 0), node.rank())
    return node.add(nn.GatherOp(node.input(0), _from_the_front(node, axis), axis))


def _from_the_front(node: NodeContext, axis: int) -> SSAValue:
    """Return the indices of a Gather; constant ones are counted from the front of the axis."""
    indices = node.input(1)
    known, size = node.builder.known(indices), node.shape()[axis]
    if known is None or (known < -size).any() or not (known < 0).any():
        return indices
    from_the_front = np.where(known < 0, known.astype(np.int64) + size, known)
    if size <= np.iinfo(known.dtype).max:
        from_the_front = from_the_front.astype(known.dtype)
    return node.builder.constant(from_the_front)


def import_gather_elements(node: NodeContext) -> SSAValue:
    """Import GatherElements."""
    axis = node.axis(node.integer("axis", 0), node.rank())
    return node.add(nn.GatherElementsOp(node.input(0), node.input(1), axis))


def import_gather_nd(node: NodeContext) -> SSAValue:
    """Import GatherND; opset 12 added batch dimensions."""
    return node.add(nn.GatherNDOp(node.input(0), node.input(1), node.integer("batch_dims", 0)))


def import_scatter_elements(node: NodeContext) -> SSAValue:
    """Import ScatterElements and the older Scatter; opsets 16 and 18 added reductions."""
    axis = node.axis(node.integer("axis", 0), node.rank())
    reduction = node.choice("reduction", "none", REDUCTIONS)
    x, indices, updates = node.input(0), node.input(1), node.input(2)
    return _scattered(node, nn.ScatterElementsOp(x, indices, updates, axis, reduction))


def import_scatter_nd(node: NodeContext) -> SSAValue:
    """Import ScatterND; opsets 16 and 18 added reductions."""
    reduction = node.choice("reduction", "none", REDUCTIONS)
    x, indices, updates = node.input(0), node.input(1), node.input(2)
    return _scattered(node, nn.ScatterNDOp(x, indices, updates, reduction))


def _scattered(node: NodeContext, op: nn.ScatterElementsOp | nn.ScatterNDOp) -> SSAValue:
    """Return the result of a scatter, which is its first operand if there are no updates."""
    x, updates = op.x, op.updates
    if array_size(updates):
        return node.add(op)
    op.erase()  # an operation outside a block must not stay a user of x
    return x


def import_one_hot(node: NodeContext) -> SSAValue:
    """Import OneHot: compare the indices with 0 .. depth - 1.

    An index out of range is equal to none of them, so its row holds only the off value.
    """
    builder, rank = node.builder, node.rank() + 1
    depth = node.constant_int(1, "depth")
    if depth < 1:
        node.refuse(f"its depth must be positive but is {depth}.")
    axis = node.axis(node.integer("axis", -1), rank)
    indices = builder.cast(node.input(0), i64)
    wrapped = builder.where(
        builder.compare("lt", indices, 0), builder.binary("add", indices, depth), indices
    )
    shape = list(node.shape())
    shape.insert(axis, 1)
    places = builder.positions(depth, axis, rank)
    hits = builder.compare("eq", builder.reshape(wrapped, shape), places)
    off, on = (builder.reshape(builder.slice(node.input(2), 0, i, 1), ()) for i in range(2))
    return builder.where(hits, on, off)


def import_reverse_sequence(node: NodeContext) -> SSAValue:
    """Import ReverseSequence: gather element len - 1 - t below each length, t from there on."""
    builder, shape = node.builder, node.shape()
    time, batch = node.integer("time_axis", 0), node.integer("batch_axis", 1)
    if {time, batch} != {0, 1} or len(shape) < 2:
        node.refuse("time_axis and batch_axis must be 0 and 1.")
    length_shape = [shape[i] if i == batch else 1 for i in range(len(shape))]
    lengths = builder.reshape(builder.cast(node.input(1), i64), length_shape)
    step = builder.positions(shape[time], time, len(shape))
    mirrored = builder.binary("sub", builder.binary("sub", lengths, 1), step)
    index = builder.where(builder.compare("lt", step, lengths), mirrored, step)
    return node.add(nn.GatherElementsOp(node.input(0), builder.expand(index, shape), time))


def import_tensor_scatter(node: NodeContext) -> SSAValue:
    """Import TensorScatter: write the update at one index per sample, circular or not."""
    builder, cache, update = node.builder, node.input(0), node.input(1)
    node.check_rank(1, node.rank(), node.rank())
    axis = node.axis(node.integer("axis", -2), node.rank())
    circular = node.choice("mode", "linear", ("linear", "circular")) == "circular"
    shape, start = shape_of(update), node.optional(2)
    if not circular:
        first = builder.constant(np.array(0)) if start is None else start
        return node.add(nn.InsertSliceOp(cache, update, first, axis))
    index = builder.positions(shape[axis], axis, len(shape))
    if start is not None:
        starts = builder.reshape(builder.cast(start, i64), (shape[0], *[1] * (len(shape) - 1)))
        index = builder.binary("add", index, starts)
    index = builder.binary("mod", index, node.shape()[axis])
    return node.add(nn.ScatterElementsOp(cache, builder.expand(index, shape), update, axis))


TABLE: Table = {
    "Gather": {1: import_gather},
    "GatherElements": {11: import_gather_elements},
    "GatherND": {11: import_gather_nd},
    "OneHot": {9: import_one_hot},
    "ReverseSequence": {10: import_reverse_sequence},
    "Scatter": {9: import_scatter_elements},
    "ScatterElements": {11: import_scatter_elements},
    "ScatterND": {11: import_scatter_nd},
    "TensorScatter": {24: import_tensor_scatter},
}
