"""Analyses for the primitives: loops that drive iterations, blocks that access buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from xdsl.dialects import affine, arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects.tir import BlockOp, ForOp, FuncOp, IterKind, enclosing_block, enclosing_loops
from ....dialects.tir.affine import simplify
from ....dialects.tir.expressions import used_dims, with_dims
from .errors import refuse


def loop_of(var: SSAValue) -> ForOp:
    """Return the loop whose variable is the operand of a block."""
    owner = var.owner
    loop = owner.parent_op() if isinstance(owner, Block) else None
    if not isinstance(loop, ForOp):
        raise ValueError("a block must be driven by loop variables")
    return loop


def path_to(op: Operation) -> list[ForOp]:
    """Return the loops around `op`, and `op` itself if it is a loop, outermost first."""
    loops = enclosing_loops(op)
    return [*loops, op] if isinstance(op, ForOp) else loops


def blocks_in(op: Operation) -> list[BlockOp]:
    """Return the blocks below `op`, in program order."""
    if isinstance(op, BlockOp):
        return [op]
    if not isinstance(op, ForOp):
        return []
    return [block for child in op.body.block.ops for block in blocks_in(child)]


def statements(body: Block) -> Iterator[Operation]:
    """Yield the operations in `body` and its loops, without block bodies, in program order."""
    for op in body.ops:
        yield op
        if isinstance(op, ForOp):
            yield from statements(op.body.block)


def loop_extents(block: BlockOp) -> list[int]:
    """Return the extent of each loop that drives `block`, in the order of its operands."""
    return [loop_of(var).size for var in block.loops]


def driven(block: BlockOp, var: SSAValue) -> set[IterKind]:
    """Return the kinds of the iteration variables that depend on the loop variable `var`."""
    positions = {i for i, loop in enumerate(block.loops) if loop is var}
    if not positions:
        return set()
    return {
        kind
        for expr, kind in zip(block.exprs, block.iter_kinds, strict=True)
        if positions & used_dims(expr)
    }


def substitute(
    block: BlockOp, old: Sequence[SSAValue], exprs: Sequence[AffineExpr], new: Sequence[SSAValue]
) -> None:
    """Replace the loop variables `old` that drive `block` by expressions over `new`."""
    if not any(var in old for var in block.loops):
        return
    kept = [var for var in block.loops if var not in old]
    loops = [*kept, *new]
    shifted = [with_dims(e, _dims(len(kept), len(new))) for e in exprs]
    values = [
        shifted[old.index(var)] if var in old else AffineExpr.dimension(kept.index(var))
        for var in block.loops
    ]
    drive(block, loops, [with_dims(e, values) for e in block.exprs])


def drive(block: BlockOp, loops: Sequence[SSAValue], exprs: Sequence[AffineExpr]) -> None:
    """Drive `block` by the simplified `exprs` over `loops`.

    Unused loops are dropped; the others are listed outermost first.
    """
    # A loop of one iteration stays in the map: it can still be split past its end, or bound.
    extents = [max(loop_of(var).size, 2) for var in loops]
    exprs = [simplify(expr, extents) for expr in exprs]
    used = list({d: None for expr in exprs for d in used_dims(expr)})
    used.sort(key=lambda d: _depth(loops[d]))
    renumber = [AffineExpr.constant(0)] * len(loops)
    for new, old in enumerate(used):
        renumber[old] = AffineExpr.dimension(new)
    block.rebind([loops[d] for d in used], [with_dims(e, renumber) for e in exprs])


def _depth(var: SSAValue) -> int:
    return len(enclosing_loops(loop_of(var)))


def _dims(start: int, count: int) -> list[AffineExpr]:
    return [AffineExpr.dimension(start + i) for i in range(count)]


def index_expr(value: SSAValue, leaves: Mapping[SSAValue, AffineExpr]) -> AffineExpr | None:
    """Return `value` as an expression over `leaves`, or None if it depends on anything else."""
    known = leaves.get(value)
    if known is not None or not isinstance(value, OpResult):
        return known
    match value.op:
        case affine.ApplyOp() as op:
            args = [index_expr(arg, leaves) for arg in op.mapOperands]
            present = [arg for arg in args if arg is not None]
            if len(present) < len(args):
                return None
            return with_dims(op.map.data.results[0], present)
        case arith.ConstantOp(value=IntegerAttr(value=number, type=IndexType())):
            return AffineExpr.constant(number.data)
        case _:
            return None


def accesses(
    block: BlockOp, buffer: SSAValue
) -> Iterator[tuple[memref.LoadOp | memref.StoreOp, list[AffineExpr | None]]]:
    """Yield each load and store of `buffer` in `block`, with indices over the block's variables."""
    leaves = {var: AffineExpr.dimension(i) for i, var in enumerate(block.iter_vars)}
    # xDSL lists uses from last to first.
    for use in reversed(list(buffer.uses)):
        op = use.operation
        if isinstance(op, memref.LoadOp | memref.StoreOp) and enclosing_block(op) is block:
            yield op, [index_expr(index, leaves) for index in op.indices]


def users(buffer: SSAValue) -> dict[BlockOp, bool]:
    """Return the blocks that access `buffer`, in order of use, and whether each writes it."""
    found: dict[BlockOp, bool] = {}
    for use in buffer.uses:
        block = enclosing_block(use.operation)
        if block is None:
            raise refuse(use.operation, "a scheduled kernel must access buffers only in blocks")
        writes = isinstance(use.operation, memref.StoreOp)
        found[block] = found.get(block, False) or writes
    return found


def written(block: BlockOp) -> list[SSAValue]:
    """Return the buffers that `block` stores to, without repetition."""
    return list(dict.fromkeys(store.memref for store in block.stores()))


def memref_of(buffer: SSAValue) -> MemRefType[Attribute]:
    """Return the type of a buffer."""
    kind = buffer.type
    assert isinstance(kind, MemRefType)
    return cast(MemRefType[Attribute], kind)


def func_of(op: Operation) -> FuncOp:
    """Return the kernel around `op`."""
    parent = op.parent_op()
    while not isinstance(parent, FuncOp):
        assert parent is not None
        parent = parent.parent_op()
    return parent


def temporary(buffer: SSAValue) -> memref.AllocaOp | None:
    """Return the allocation of `buffer`, or None for a kernel parameter."""
    if isinstance(buffer, OpResult) and isinstance(buffer.op, memref.AllocaOp):
        return buffer.op
    return None
