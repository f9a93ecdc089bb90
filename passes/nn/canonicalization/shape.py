"""Reshapes and transposes that cancel, merge or move no data."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ....dialects import nn
from ....dialects.nn import ReduceKind, ints, shape_of
from ..rewriting import forward, in_kernel, replace

UNIT_REDUCTIONS = {
    ReduceKind.SUM,
    ReduceKind.MEAN,
    ReduceKind.MAX,
    ReduceKind.MIN,
    ReduceKind.PROD,
}
"""Reductions that leave a single element unchanged."""


class SimpleReshape(RewritePattern):
    """A reshape to the same shape is its operand; two reshapes make one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.ReshapeOp, rewriter: PatternRewriter, /) -> None:
        if op.x.type == op.result.type:
            forward(rewriter, op, op.x)
        elif isinstance(inner := op.x.owner, nn.ReshapeOp):
            replace(rewriter, op, nn.ReshapeOp(inner.x, shape_of(op.result)))


class SimpleTranspose(RewritePattern):
    """Transposes compose; one that moves only dimensions of size 1 is a reshape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.TransposeOp, rewriter: PatternRewriter, /) -> None:
        perm, shape = ints(op.perm), shape_of(op.x)
        if perm == tuple(range(len(perm))):
            forward(rewriter, op, op.x)
        elif isinstance(inner := op.x.owner, nn.TransposeOp):
            first = ints(inner.perm)
            replace(rewriter, op, nn.TransposeOp(inner.x, [first[i] for i in perm]))
        else:
            moved = [i for i in perm if shape[i] != 1]
            if moved == sorted(moved):
                replace(rewriter, op, nn.ReshapeOp(op.x, shape_of(op.result)))


class SimpleExpand(RewritePattern):
    """An expand that repeats nothing is its operand or a reshape of it; two expands make one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.ExpandOp, rewriter: PatternRewriter, /) -> None:
        shape = shape_of(op.result)
        if op.x.type == op.result.type:
            forward(rewriter, op, op.x)
        elif nn.count(shape) == nn.count(shape_of(op.x)):
            replace(rewriter, op, nn.ReshapeOp(op.x, shape))
        elif isinstance(inner := op.x.owner, nn.ExpandOp):
            replace(rewriter, op, nn.ExpandOp(inner.x, shape))


class BroadcastsItself(RewritePattern):
    """Elementwise operations broadcast their operands, so an expand before one is redundant."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        operands = [v.owner.x if isinstance(v.owner, nn.ExpandOp) else v for v in op.operands]
        if operands == list(op.operands):
            return
        if nn.broadcast(*map(shape_of, operands)) == shape_of(op.results[0]):
            op.operands = operands
            rewriter.notify_op_modified(op)


class SimpleTile(RewritePattern):
    """A tile of ones is its operand."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.TileOp, rewriter: PatternRewriter, /) -> None:
        if op.x.type == op.result.type:
            forward(rewriter, op, op.x)


class SimpleResize(RewritePattern):
    """A resize to the same size by factors of one is its operand."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.ResizeOp, rewriter: PatternRewriter, /) -> None:
        crops = op.coordinate_mode.data is nn.CoordinateMode.TF_CROP_AND_RESIZE
        if not crops and op.x.type == op.result.type and set(nn.floats(op.scales)) <= {1.0}:
            forward(rewriter, op, op.x)


class SimpleBlocks(RewritePattern):
    """Blocks of one element are the tensor itself."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if op.operands[0].type == op.results[0].type:
            forward(rewriter, op, op.operands[0])


class UnitReduce(RewritePattern):
    """A reduction over dimensions of size 1 is a reshape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: nn.ReduceOp, rewriter: PatternRewriter, /) -> None:
        shape = shape_of(op.x)
        if op.kind.data in UNIT_REDUCTIONS and all(shape[a] == 1 for a in ints(op.axes)):
            replace(rewriter, op, nn.ReshapeOp(op.x, shape_of(op.result)))


class UnaryBeforeTranspose(RewritePattern):
    """f(transpose(x)) is transpose(f(x)), so that f can be fused into the kernel of x.

    Reshapes before the transpose move behind f, too. The pattern does not apply if the transpose or
    a reshape has other users, since they would need a second copy.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        (value,) = op.operands
        if not isinstance(value.owner, nn.TransposeOp) or in_kernel(op):
            return
        movements: list[nn.TransposeOp | nn.ReshapeOp] = []
        while isinstance(value.owner, nn.TransposeOp | nn.ReshapeOp) and value.has_one_use():
            movements.insert(0, value.owner)
            value = value.owner.x
        producer = value.owner
        is_computed = isinstance(producer, nn.NNOp) and not isinstance(producer, nn.ConstantOp)
        if not is_computed or not movements:
            return
        element = nn.tensor_type(op.results[0]).element_type
        new = [_on(op, value, TensorType(element, nn.shape_of(value)))]
        for movement in movements:
            shape = nn.shape_of(movement.result)
            new.append(_on(movement, new[-1].results[0], TensorType(element, shape)))
        replace(rewriter, op, *new)


def _on(op: Operation, operand: SSAValue, result: TensorType[Attribute]) -> Operation:
    """Return a copy of `op` with another operand and result type."""
    return type(op).create(
        operands=[operand],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        result_types=[result],
    )


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {
    nn.ReshapeOp.name: (SimpleReshape(),),
    nn.TransposeOp.name: (SimpleTranspose(),),
    nn.ExpandOp.name: (SimpleExpand(),),
    nn.TileOp.name: (SimpleTile(),),
    nn.ResizeOp.name: (SimpleResize(),),
    nn.DepthToSpaceOp.name: (SimpleBlocks(),),
    nn.SpaceToDepthOp.name: (SimpleBlocks(),),
    nn.ReduceOp.name: (UnitReduce(),),
    nn.UnaryOp.name: (UnaryBeforeTranspose(),),
    nn.ClipOp.name: (UnaryBeforeTranspose(),),
    nn.BinaryOp.name: (BroadcastsItself(),),
    nn.CompareOp.name: (BroadcastsItself(),),
    nn.WhereOp.name: (BroadcastsItself(),),
}
