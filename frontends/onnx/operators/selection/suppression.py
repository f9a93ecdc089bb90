"""NonMaxSuppression: for each class, select the best box and drop those that overlap it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import FloatAttr, IndexType, f32, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from .....dialects import nn
from .....dialects.nn.types import shape_of
from ....builder import Builder
from ...data_sizes import sized
from ...node import NodeContext, Table
from .masks import selected

MAX_SELECTED = 1024
"""Boxes per class that are selected at most: each is a step of the unrolled search."""


class BoxCorners(NamedTuple):
    """Corners of boxes, with the lower coordinates first, and their areas; all of one shape."""

    top: SSAValue
    left: SSAValue
    bottom: SSAValue
    right: SSAValue
    area: SSAValue


def _corners(builder: Builder, boxes: SSAValue, are_centred: bool) -> BoxCorners:
    """Return the boxes [batch, n, 4], each part [batch, n]."""
    batch, count, _ = shape_of(boxes)
    a, b, c, d = (builder.reshape(builder.slice(boxes, 2, i, 1), (batch, count)) for i in range(4))
    if are_centred:  # x and y of the centre, width and height
        half_width, half_height = (builder.binary("div", each, 2) for each in (c, d))
        left, right = (builder.binary(kind, a, half_width) for kind in ("sub", "add"))
        top, bottom = (builder.binary(kind, b, half_height) for kind in ("sub", "add"))
    else:  # y, x of two corners
        top, bottom = (builder.binary(kind, a, c) for kind in ("min", "max"))
        left, right = (builder.binary(kind, b, d) for kind in ("min", "max"))
    height, width = builder.binary("sub", bottom, top), builder.binary("sub", right, left)
    return BoxCorners(top, left, bottom, right, builder.binary("mul", width, height))


def _drop(
    builder: Builder, left: SSAValue, corners: BoxCorners, best: SSAValue, threshold: SSAValue
) -> SSAValue:
    """Return the scores [batch, classes, n] with -inf for the best box and for those it overlaps.

    Boxes overlap if intersection / union > threshold; those without an area overlap nothing.
    """
    shape = shape_of(left)
    i, j, k = (AffineExpr.dimension(loop) for loop in range(3))
    each, group, box, scalar = (AffineMap(3, 0, axes) for axes in ((i, j, k), (i, j), (i, k), ()))
    # The corners come twice: those of each box, and whole, to read those of the best box.
    operands = [left, best, threshold, *corners, *corners]
    element, whole = f32, [value.type for value in corners]
    block = Block(arg_types=[element, i64, element, *[element] * 5, *whole])
    score, index, limit, *parts = block.args
    batch, place = nn.IndexOp(0), arith.IndexCastOp(index, IndexType())
    block.add_ops([batch, place])
    reads = [tensor.ExtractOp(part, [batch.result, place.result], element) for part in parts[5:]]
    block.add_ops(reads)
    scalars = _Scalars(block)
    overlap = _overlap(
        scalars, BoxCorners(*parts[:5]), BoxCorners(*(op.result for op in reads)), limit
    )
    here = nn.IndexOp(2)
    block.add_op(here)
    same = scalars.add(arith.CmpiOp(here.result, place.result, "eq"))
    dropped = scalars.add(arith.OrIOp(overlap, same))
    infinity = scalars.add(arith.ConstantOp(FloatAttr(-math.inf, f32)))
    rest = scalars.add(arith.SelectOp(dropped, infinity, score))
    block.add_op(nn.YieldOp([rest]))
    maps = [each, group, scalar, *[box] * 5, *[None] * 5, each]
    return builder.add(nn.GenericOp(operands, maps, shape, [f32], Region(block)))


class _Scalars(NamedTuple):
    """Appends scalar operations to the body of a loop nest."""

    block: Block

    def add(self, op: Operation) -> SSAValue:
        """Append an operation, and return its result."""
        self.block.add_op(op)
        return op.results[0]


def _overlap(scalars: _Scalars, a: BoxCorners, b: BoxCorners, threshold: SSAValue) -> SSAValue:
    def extent(ends: tuple[SSAValue, SSAValue], starts: tuple[SSAValue, SSAValue]) -> SSAValue:
        end = scalars.add(arith.MinimumfOp(ends[0], ends[1]))
        start = scalars.add(arith.MaximumfOp(starts[0], starts[1]))
        return scalars.add(arith.SubfOp(end, start))

    height = extent((a.bottom, b.bottom), (a.top, b.top))
    width = extent((a.right, b.right), (a.left, b.left))
    shared = scalars.add(arith.MulfOp(width, height))
    both = scalars.add(arith.AddfOp(b.area, a.area))
    union = scalars.add(arith.SubfOp(both, shared))
    ratio = scalars.add(arith.DivfOp(shared, union))
    overlap = scalars.add(arith.CmpfOp(ratio, threshold, "ogt"))
    zero = scalars.add(arith.ConstantOp(FloatAttr(0.0, f32)))
    for size in (height, width, shared, a.area, b.area, union):
        positive = scalars.add(arith.CmpfOp(size, zero, "ogt"))
        overlap = scalars.add(arith.AndIOp(overlap, positive))
    return overlap


def import_non_max_suppression(node: NodeContext) -> SSAValue:
    """Import NonMaxSuppression: rows of batch, class and box, by descending score in each class."""
    builder, boxes, scores = node.builder, node.input(0), node.input(1)
    node.check_rank(0, 3, 3)
    node.check_rank(1, 3, 3)
    batch, classes, count = node.shape(1)
    if node.shape() != (batch, count, 4):
        node.refuse(f"{list(node.shape())} boxes and {list(node.shape(1))} scores do not match.")
    most = min(node.constant_int(2, "number of boxes to select", 0), count)
    corners = _corners(builder, boxes, node.flag("center_point_box"))
    if most > MAX_SELECTED:
        node.refuse(
            f"selects up to {most} boxes of each class, but at most {MAX_SELECTED} are supported; "
            "reduce max_output_boxes_per_class."
        )
    if most < 1 or not batch * classes:
        return builder.constant(np.zeros((0, 3), np.int64))
    # A score of -inf comes after all others, but before the boxes that were dropped.
    left = builder.binary("max", scores, float(np.finfo(np.float32).min))
    if (least := node.optional(4)) is not None:
        candidate = builder.compare("gt", scores, builder.reshape(least, ()))
        left = builder.where(candidate, left, builder.scalar(-np.inf, scores))
    threshold = node.optional(3) or builder.scalar(0, boxes)
    places, hits = _selection(builder, corners, left, builder.reshape(threshold, ()), most)
    found, total = selected(builder, builder.reshape(hits, (batch * classes * most,)))
    box = builder.gather(builder.reshape(places, (batch * classes * most,)), found, 0)
    group = builder.binary("div", found, most)
    columns = [builder.binary("div", group, classes), builder.binary("mod", group, classes), box]
    rows = builder.concat([builder.reshape(c, (*shape_of(c), 1)) for c in columns], 1)
    return sized(builder, rows, 0, total)


def _selection(
    builder: Builder, corners: BoxCorners, left: SSAValue, threshold: SSAValue, most: int
) -> tuple[SSAValue, SSAValue]:
    """Return the boxes selected in each step, [batch, classes, most], and whether there was one.

    `left` has the scores, with -inf for boxes that are no candidates.
    """
    batch, classes, _ = shape_of(left)
    places: list[SSAValue] = []
    scores: list[SSAValue] = []
    for step in range(most):
        best = builder.add(nn.ArgReduceOp(left, "max", 2, True, False))
        scores.append(builder.add(nn.GatherElementsOp(left, best, 2)))
        places.append(best)
        if step + 1 < most:
            index = builder.reshape(best, (batch, classes))
            left = _drop(builder, left, corners, index, threshold)
    hits = builder.compare("ne", builder.concat(scores, 2), -np.inf)
    return builder.concat(places, 2), hits


TABLE: Table = {"NonMaxSuppression": {10: import_non_max_suppression}}
