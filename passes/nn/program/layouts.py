"""Layout changes between kernels: at compile time for constants, else by regions that copy."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import NoneAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ....dialects import nn
from ....errors import CloptError
from ...locations import node_name


def outline_relayouts(function: func.FuncOp) -> None:
    """Replace each nn.relayout of a computed value by a region that copies.

    A relayout that changes nothing is replaced by its operand.
    """
    for op in list(function.body.block.ops):
        if not isinstance(op, nn.RelayoutOp) or nn.constant_of(op.x) is not None:
            continue
        if op.x.type == op.result.type:
            copied: SSAValue = op.x
        else:
            block = Block(arg_types=[nn.plain_type(op.x.type)])
            block.args[0].name_hint = op.x.name_hint
            block.add_op(nn.YieldOp(block.args))
            fused = nn.FusedOp([op.x], block, [nn.layout_of(op.result)])
            fused.location = op.location
            Rewriter.insert_op(fused, InsertPoint.before(op))
            (copied,) = fused.outputs
            copied.name_hint = op.result.name_hint
        op.result.replace_all_uses_with(copied)
        op.detach()
        op.erase()


def copy_comment(fused: nn.FusedOp) -> str:
    """Return the kind of a region that only copies, and the node that it serves."""
    layouts = [nn.layout_of(value) for value in (*fused.inputs, *fused.outputs)]
    before, after = (layout.blocks if layout is not None else () for layout in layouts)
    kind = "move" if before == after else "unpack" if not after else "pack"
    node = node_name(fused)
    return kind if node == fused.name else f"{kind} {node}"


def is_packed_view(fused: nn.FusedOp) -> bool:
    """Return whether a region is a reshape of a packed buffer that moves no bytes.

    It is one if the packed axes stay axes, and axes merge and split only around them, in row-major
    order.
    """
    ops = list(fused.body.block.ops)
    if len(ops) != 2 or not isinstance(reshape := ops[0], nn.ReshapeOp):
        return False
    before, after = nn.layout_of(fused.inputs[0]), nn.layout_of(fused.outputs[0])
    if before is None or after is None or not before.memory == after.memory == NoneAttr():
        return False
    old, new = nn.shape_of(reshape.x), nn.shape_of(reshape.result)
    pairs = [nn.kept_axis(old, new, *group) for group in nn.matching_groups(old, new)]
    moved = dict(pair for pair in pairs if pair is not None)
    return [(moved.get(axis), size) for axis, size in before.blocks] == list(after.blocks)


def check_plain(op: Operation, values: Sequence[SSAValue]) -> None:
    """Raise CloptError for values with layouts that are not operands or results of kernels."""
    for value in values:
        if nn.layout_of(value) is not None:
            raise CloptError(
                f"{node_name(op)}: {op.name} needs plain tensors, but got {value.type}; convert it "
                "to the plain layout with nn.relayout"
            )
