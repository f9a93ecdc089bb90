"""split: turn one loop into two, the inner one with a given extent."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir.affine import AffineExpr

from ....dialects.tir import BlockOp, ForOp, enclosing_loops
from ....dialects.tir.affine import bounds
from .analysis import blocks_in, loop_extents, substitute
from .errors import refuse
from .nest import check_below, check_plain


def split(
    loop: ForOp, factor: int, names: tuple[str, str] | None = None, *, overlap: bool = False
) -> tuple[ForOp, ForOp]:
    """Run `loop` in chunks of `factor`. Return the outer and the inner loop, which replace `loop`.

    If the factor does not divide the extent, the last chunk runs past it. That is legal because a
    block skips points outside its own extents; it is refused if these points lie inside. With
    `overlap`, the last chunk instead starts early enough to end with the extent: a few points are
    computed twice, and no chunk needs a guard.
    """
    check_plain(loop, "split")
    if factor < 1:
        raise refuse(loop, f"the factor must be at least 1, not {factor}")
    extent = loop.size
    count = -(-extent // factor)
    blocks = blocks_in(loop)
    beyond = count * factor - extent
    if overlap and beyond:
        _check_overlap(loop, factor, blocks)
    elif beyond:
        for block in blocks:
            if block.is_reduction and not _skips(block, loop, count * factor):
                raise refuse(
                    loop,
                    f"{factor} does not divide {extent}, and block '{block.label.data}' "
                    "would accumulate some points twice",
                )
    if extent == 1 < factor:
        _check_once(loop, factor)
    base = loop.var.name_hint or "i"
    outer_name, inner_name = names or (f"{base}o", f"{base}i")
    kind = loop.kind.data
    outer = ForOp(kind, count, hint=outer_name)
    parent = loop.parent_block()
    assert parent is not None
    parent.insert_op_before(outer, loop)
    loop.detach()
    inner = ForOp(kind, factor, loop.detach_region(loop.body), inner_name)
    outer.body.block.add_op(inner)
    expr = AffineExpr.dimension(0) * factor + AffineExpr.dimension(1)
    if overlap and beyond:
        # `o floordiv (count - 1)` is 1 for the last chunk and 0 for the others.
        expr = expr - (AffineExpr.dimension(0) // (count - 1)) * beyond
    old = inner.var
    for block in blocks:
        # The inner loop reuses the block argument of the old one.
        substitute(block, [old], [expr], [outer.var, inner.var])
    return outer, inner


def _check_once(loop: ForOp, factor: int) -> None:
    """Refuse bound loops inside a loop that runs more than once.

    Only its first iteration does any work, but work-items would query their index in each.
    """
    extent = loop.extent
    loop.extent = IntegerAttr(factor, i64)
    try:
        check_below(loop, [*enclosing_loops(loop), loop])
    finally:
        loop.extent = extent


def _check_overlap(loop: ForOp, factor: int, blocks: Sequence[BlockOp]) -> None:
    if factor > loop.size:
        raise refuse(loop, f"a chunk of {factor} is larger than {loop.size} iterations")
    for block in blocks:
        stored = {store.memref for store in block.stores()}
        if block.is_reduction or any(load.memref in stored for load in block.loads()):
            raise refuse(
                loop,
                f"block '{block.label.data}' updates its results, "
                "so no point may be computed twice",
            )


def split_many(
    loop: ForOp, factors: Sequence[int], names: Sequence[str] | None = None
) -> list[ForOp]:
    """Split off one inner loop per factor, innermost last. Return all loops, outermost first."""
    loops: list[ForOp] = []
    for position in range(len(factors) - 1, -1, -1):
        pair = None if names is None else (names[0], names[position + 1])
        loop, inner = split(loop, factors[position], pair)
        loops.append(inner)
    return [loop, *reversed(loops)]


def _skips(block: BlockOp, loop: ForOp, end: int) -> bool:
    """Return whether `block` skips the values of `loop` from its extent to `end`."""
    extents = loop_extents(block)
    beyond: list[AffineExpr] = []
    for position, var in enumerate(block.loops):
        dim = AffineExpr.dimension(position)
        if var is loop.var:
            extents[position] = end - loop.size
            dim = dim + loop.size
        beyond.append(dim)
    for expr, extent in zip(block.exprs, block.iter_extents, strict=True):
        low, _ = bounds(expr.replace_dims_and_symbols(beyond, ()), extents)
        if low is not None and low >= extent:
            return True
    return False
