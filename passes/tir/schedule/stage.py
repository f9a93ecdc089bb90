"""Helpers to build stages: nests of loops around a single block."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from ....dialects.tir import (
    PLAIN,
    BlockOp,
    ForOp,
    FuncOp,
    IterKind,
    LoopKind,
    Scope,
    ScopeAttr,
    building,
)
from ...free_names import free_name
from .analysis import memref_of, statements
from .errors import refuse
from .nest import only_child

LOOP_KIND = {IterKind.Spatial: LoopKind.Parallel, IterKind.Reduce: LoopKind.Serial}
"""The initial kind of a loop, by the kind of the iteration variable that it drives."""


def new_stage(
    label: str, iters: Sequence[tuple[str, int, IterKind]], init: Sequence[Attribute] = ()
) -> tuple[Operation, BlockOp]:
    """Build a nest with a loop per variable (name, extent, kind). Return its root and block."""
    loops = [ForOp(LOOP_KIND[kind], extent, hint=name) for name, extent, kind in iters]
    block = BlockOp(
        label,
        [loop.var for loop in loops],
        [extent for _, extent, _ in iters],
        [kind for _, _, kind in iters],
        init=init,
    )
    for var, (name, _, _) in zip(block.body.block.args, iters, strict=True):
        var.name_hint = name
    nest: list[Operation] = [*loops, block]
    for outer, inner in pairwise(nest):
        assert isinstance(outer, ForOp)
        outer.body.block.add_op(inner)
    return nest[0], block


def new_temporary(
    func: FuncOp, like: SSAValue, shape: Sequence[int], name: str, scope: Scope | None
) -> SSAValue:
    """Allocate a temporary with the element type of `like` at the top of the kernel."""
    kind = memref_of(like)
    if scope is None:
        new = MemRefType(kind.element_type, shape)
    else:
        new = MemRefType(kind.element_type, shape, memory_space=ScopeAttr(scope))
    alloca = memref.AllocaOp.get(
        new.element_type, None, new.shape, None, new.layout, new.memory_space
    )
    alloca.memref.name_hint = name
    body = func.body.block
    first = body.first_op
    if first is None:
        body.add_op(alloca)
    else:
        body.insert_op_before(alloca, first)
    return alloca.memref


def whole_stage(block: BlockOp, action: str) -> Operation:
    """Return the root of a stage whose loops are plain and contain only its block.

    Refuse other stages; `action` completes the message.
    """
    op: Operation = block
    while isinstance(parent := op.parent_op(), ForOp):
        if not only_child(op):
            raise refuse(block, f"other statements share its loops; {action} the stage earlier")
        if parent.kind.data not in PLAIN:
            raise refuse(
                parent, f"it is {parent.kind.data.value}; {action} the stage of its block earlier"
            )
        op = parent
    return op


def index_value(expr: AffineExpr, body: Block) -> SSAValue:
    """Return `expr` over the arguments of `body`, computed at the end of `body`."""
    if isinstance(expr, AffineDimExpr):
        return body.args[expr.position]
    if isinstance(expr, AffineConstantExpr):
        constant = building.index_constant(expr.value)
        body.add_op(constant)
        return constant.result
    apply = building.apply(body.args, expr)
    body.add_op(apply)
    return apply.result


def free_label(func: FuncOp, label: str) -> str:
    """Return `label`, with a number appended if the kernel already has such a block."""
    ops = statements(func.body.block)
    taken = {op.label.data for op in ops if isinstance(op, BlockOp)}
    return free_name(label, taken)


def insert_before(new: Operation, op: Operation) -> None:
    """Put `new` before `op`."""
    parent = op.parent_block()
    assert parent is not None
    parent.insert_op_before(new, op)


def insert_after(new: Operation, op: Operation) -> None:
    """Put `new` after `op`."""
    parent = op.parent_block()
    assert parent is not None
    parent.insert_op_after(new, op)


def spatial_part(block: BlockOp) -> tuple[list[int], dict[SSAValue, AffineExpr]]:
    """Return the positions of the spatial variables, and a dimension for each of them."""
    positions = [i for i, kind in enumerate(block.iter_kinds) if kind is IterKind.Spatial]
    leaves: dict[SSAValue, AffineExpr] = {
        block.iter_vars[position]: AffineExpr.dimension(d) for d, position in enumerate(positions)
    }
    return positions, leaves
