"""fuse: turn two nested loops into one."""

from __future__ import annotations

from xdsl.ir.affine import AffineExpr

from ....dialects.tir import ForOp, LoopKind
from .analysis import blocks_in, driven, substitute
from .errors import refuse
from .nest import check_plain, only_child


def fuse(outer: ForOp, inner: ForOp, name: str | None = None) -> ForOp:
    """Run `outer` and the loop directly inside it as one loop over all pairs. Return it."""
    check_plain(outer, "fused")
    check_plain(inner, "fused")
    if inner.parent_op() is not outer or not only_child(inner):
        raise refuse(outer, f"it contains more than loop '{inner.var.name_hint}'")
    blocks = blocks_in(inner)
    for block in blocks:
        if len(driven(block, outer.var) | driven(block, inner.var)) > 1:
            raise refuse(
                outer,
                f"it and loop '{inner.var.name_hint}' drive both a spatial and a reduce variable "
                f"of block '{block.label.data}'",
            )
    parallel = outer.kind.data is LoopKind.Parallel and inner.kind.data is LoopKind.Parallel
    kind = LoopKind.Parallel if parallel else LoopKind.Serial
    hint = name or f"{outer.var.name_hint or 'i'}{inner.var.name_hint or 'j'}"
    fused = ForOp(kind, outer.size * inner.size, hint=hint)
    parent = outer.parent_block()
    assert parent is not None
    parent.insert_op_before(fused, outer)
    dim = AffineExpr.dimension(0)
    for block in blocks:
        substitute(
            block, [outer.var, inner.var], [dim // inner.size, dim % inner.size], [fused.var]
        )
    contents = list(inner.body.block.ops)
    for op in contents:
        op.detach()
    fused.body.block.add_ops(contents)
    outer.detach()
    outer.erase()
    return fused
