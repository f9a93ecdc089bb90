"""Slices, pads, concats and gathers that merge or vanish."""

from __future__ import annotations

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....dialects import nn
from ....dialects.nn import PadMode, ints, number, shape_of
from ..rewriting import forward, replace


class SimpleSlice(RewritePattern):
    """A slice of everything is its operand; a slice of a slice is one slice."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.SliceOp, rewriter: PatternRewriter, /) -> None:
        starts, steps, sizes = ints(op.starts), ints(op.steps), ints(op.sizes)
        same = op.x.type == op.result.type
        if same and all(n == 1 or s == 1 for n, s in zip(sizes, steps, strict=True)):
            forward(rewriter, op, op.x)
        elif isinstance(inner := op.x.owner, nn.SliceOp) and min(sizes, default=1) > 0:
            pairs = list(zip(ints(inner.starts), ints(inner.steps), starts, steps, strict=True))
            new = nn.SliceOp(
                inner.x,
                [start + first * step for start, step, first, _ in pairs],
                sizes,
                [step * by for _, step, _, by in pairs],
            )
            replace(rewriter, op, new)


class SimplePad(RewritePattern):
    """A pad by nothing is its operand; two constant pads with the same value make one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.PadOp, rewriter: PatternRewriter, /) -> None:
        low, high = ints(op.low), ints(op.high)
        if not any(low) and not any(high):
            forward(rewriter, op, op.x)
            return
        inner = op.x.owner
        if not isinstance(inner, nn.PadOp):
            return
        low1, high1 = ints(inner.low), ints(inner.high)
        constant = op.mode == inner.mode and op.mode.data is PadMode.CONSTANT
        if constant and op.value == inner.value and min(*low, *high, *low1, *high1) >= 0:
            new = nn.PadOp(
                inner.x,
                [a + b for a, b in zip(low1, low, strict=True)],
                [a + b for a, b in zip(high1, high, strict=True)],
                value=0 if op.value is None else number(op.value),
            )
            replace(rewriter, op, new)


class SimpleConcat(RewritePattern):
    """Empty operands vanish; concats of concats along one axis make one concat."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.ConcatOp, rewriter: PatternRewriter, /) -> None:
        (axis,) = ints(op.axis)
        flat = [
            value
            for v in op.inputs
            for value in (
                v.owner.inputs
                if isinstance(v.owner, nn.ConcatOp) and v.owner.axis == op.axis
                else (v,)
            )
        ]
        flat = [v for v in flat if shape_of(v)[axis]] or flat[:1]
        if len(flat) == 1:
            forward(rewriter, op, flat[0])
        elif flat != list(op.inputs):
            replace(rewriter, op, nn.ConcatOp(flat, axis))


class GatherToSlice(RewritePattern):
    """A gather of evenly spaced constant indices is a slice."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.GatherOp, rewriter: PatternRewriter, /) -> None:
        array = nn.constant_value(op.indices)
        shape = shape_of(op.x)
        (axis,) = ints(op.axis)
        if array is None or not array.size or array.ndim > 1:
            return
        given = array.astype(np.int64).reshape(-1)
        index = np.where(given < 0, given + shape[axis], given)
        steps = np.diff(index)
        step = int(steps[0]) if steps.size else 1
        inside = 0 <= index.min() and index.max() < shape[axis]
        if not inside or step == 0 or (steps != step).any():
            return
        starts, by, sizes = [0] * len(shape), [1] * len(shape), list(shape)
        starts[axis], by[axis], sizes[axis] = int(index[0]), step, index.size
        part = nn.SliceOp(op.x, starts, sizes, by)
        replace(rewriter, op, part, nn.ReshapeOp(part.result, shape_of(op.result)))


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {
    nn.SliceOp.name: (SimpleSlice(),),
    nn.PadOp.name: (SimplePad(),),
    nn.ConcatOp.name: (SimpleConcat(),),
    nn.GatherOp.name: (GatherToSlice(),),
}
