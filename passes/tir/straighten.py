"""The form of naive kernels: one plain loop per block variable, spatial ones first."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.rewriter import Rewriter

from ...dialects import tir
from .schedule.analysis import accesses, blocks_in, memref_of, written
from .schedule.compute_at import iteration_names
from .schedule.stage import new_stage


def straighten(func: tir.FuncOp) -> None:
    """Put an unscheduled kernel into the naive form.

    The spatial variables of each block come in the order in which they index its result.
    Temporaries have no scope. The kernel stays unchanged if a loop is bound or a variable is split.
    """
    stages = [(root, _only_block(root)) for root in func.body.block.ops if blocks_in(root)]
    blocks = [(root, block) for root, block in stages if block is not None]
    if len(blocks) < len(stages):
        return
    for root, block in blocks:
        _straighten(root, block)
    for op in func.body.block.ops:
        if isinstance(op, memref.AllocaOp):
            type_ = memref_of(op.memref)
            plain = MemRefType(type_.element_type, type_.shape, type_.layout)
            Rewriter.replace_value_with_new_type(op.memref, plain)


def _only_block(root: Operation) -> tir.BlockOp | None:
    """Return the block of a nest of plain loops that drive one variable each, or None."""
    loops: list[tir.ForOp] = []
    while isinstance(root, tir.ForOp):
        if (
            root.kind.data not in tir.PLAIN
            or root.body.block.first_op is not root.body.block.last_op
        ):
            return None
        loops.append(root)
        assert root.body.block.first_op is not None
        root = root.body.block.first_op
    if not isinstance(root, tir.BlockOp):
        return None
    driven = [e.position for e in root.exprs if isinstance(e, AffineDimExpr)]
    rest = [
        extent == 1 and expr == AffineExpr.constant(0)
        for expr, extent in zip(root.exprs, root.iter_extents, strict=True)
        if not isinstance(expr, AffineDimExpr)
    ]
    return root if sorted(driven) == list(range(len(loops))) and all(rest) else None


def _straighten(root: Operation, block: tir.BlockOp) -> None:
    order = _order(block)
    if order == list(range(len(order))) and len(block.loops) == len(order):
        loops = [expr.position for expr in block.exprs if isinstance(expr, AffineDimExpr)]
        if loops == order:
            return
    names, extents, kinds = iteration_names(block), block.iter_extents, block.iter_kinds
    iters = [(names[i], extents[i], kinds[i]) for i in order]
    new_root, new = new_stage(block.label.data, iters, block.init.data)
    for position, var in zip(order, new.iter_vars, strict=True):
        block.iter_vars[position].replace_all_uses_with(var)
    for op in list(block.body.block.ops):
        op.detach()
        new.body.block.add_op(op)
    Rewriter.replace_op(root, new_root)


def _order(block: tir.BlockOp) -> list[int]:
    """Return the positions of the variables in the order of a naive kernel."""
    spatial = [i for i, kind in enumerate(block.iter_kinds) if kind is tir.IterKind.Spatial]
    reduce = [i for i in range(len(block.iter_kinds)) if i not in spatial]
    spatial = _as_stored(block, spatial)
    # Reductions keep the order of their loops: loops from `rfactor` come last in the block.
    outermost = {i: _depth(block.exprs[i]) for i in reduce}
    reduce.sort(key=lambda position: outermost[position])
    return [*spatial, *reduce]


def _as_stored(block: tir.BlockOp, spatial: list[int]) -> list[int]:
    """Return the spatial variables in the order in which they index the block's result."""
    (buffer, *_) = written(block)
    indices = next(found for op, found in accesses(block, buffer) if isinstance(op, memref.StoreOp))
    used = [[] if index is None else sorted(index.used_dims()) for index in indices]
    stored = {position for dims in used for position in dims}
    # A variable of extent 1 is a constant index.
    single = [i for i in spatial if i not in stored and block.iter_extents[i] == 1]
    order: dict[int, None] = {}
    for dims in used:
        order |= dict.fromkeys(dims or single[:1])
        single = single if dims else single[1:]
    return [*order, *(i for i in spatial if i not in order)]


def _depth(expr: AffineExpr) -> int:
    """Return the depth of the loop that drives a variable.

    A variable without a loop sorts innermost.
    """
    return expr.position if isinstance(expr, AffineDimExpr) else 1 << 16
