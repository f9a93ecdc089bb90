"""New stages: a nest of loops around one block."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects import affine, arith, memref
from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from ....dialects.tir import BlockOp, ForOp, FuncOp, IterKind, LoopKind, Scope, ScopeAttr
from .analysis import PLAIN, memref_of
from .errors import refuse
from .nest import only_child

LOOP_KIND = {IterKind.Spatial: LoopKind.Parallel, IterKind.Reduce: LoopKind.Serial}
"""What a loop that drives an iteration variable of some kind starts as."""


def new_stage(
    label: str, iters: Sequence[tuple[str, int, IterKind]], init: Sequence[Attribute] = ()
) -> tuple[Operation, BlockOp]:
    """A nest with one loop per iteration variable (name, extent, kind); its root and its block."""
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
    chain: list[Operation] = [*loops, block]
    for outer, inner in pairwise(chain):
        assert isinstance(outer, ForOp)
        outer.body.block.add_op(inner)
    return chain[0], block


def new_temporary(
    func: FuncOp, like: SSAValue, shape: Sequence[int], name: str, scope: Scope | None
) -> SSAValue:
    """A temporary with the element type of `like`, allocated at the top of the kernel."""
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
    """The outermost statement of a stage that no other shares and no schedule has touched much.

    `action` needs all of the stage's loops to be its own and still plain.
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
    """`expr` over the arguments of `body`, computed at its end."""
    if isinstance(expr, AffineDimExpr):
        return body.args[expr.position]
    if isinstance(expr, AffineConstantExpr):
        constant = arith.ConstantOp(IntegerAttr.from_index_int_value(expr.value))
        body.add_op(constant)
        return constant.result
    attr = AffineMapAttr(AffineMap(len(body.args), 0, (expr,)))
    apply = affine.ApplyOp(list(body.args), attr)
    body.add_op(apply)
    return apply.result


def insert_after(new: Operation, op: Operation) -> None:
    """Put `new` behind `op`."""
    parent = op.parent_block()
    assert parent is not None
    parent.insert_op_after(new, op)


def func_of(op: Operation) -> FuncOp:
    """The kernel around `op`."""
    parent = op.parent_op()
    while not isinstance(parent, FuncOp):
        assert parent is not None
        parent = parent.parent_op()
    return parent


def spatial_part(block: BlockOp) -> tuple[list[int], dict[SSAValue, AffineExpr]]:
    """The positions of the spatial variables, and these as dimensions of a block of them alone."""
    positions = [i for i, kind in enumerate(block.iter_kinds) if kind is IterKind.Spatial]
    leaves: dict[SSAValue, AffineExpr] = {
        block.iter_vars[position]: AffineExpr.dimension(d) for d, position in enumerate(positions)
    }
    return positions, leaves
