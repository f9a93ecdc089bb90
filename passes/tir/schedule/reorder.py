"""reorder: permute loops of a perfect nest."""

from __future__ import annotations

from itertools import pairwise

from ....dialects.tir import ForOp, enclosing_loops
from .errors import ScheduleError, refuse
from .nest import check_below, perfect_chain


def reorder(*loops: ForOp) -> None:
    """Permute `loops` into the listed order; other loops of the nest keep their positions.

    Every order computes the same result: spatial iterations are independent, and a reduction may
    accumulate in any order.
    """
    if len(loops) < 2:
        return
    if len(set(loops)) < len(loops):
        raise refuse(loops[0], "a loop is listed twice")
    depths = {loop: len(enclosing_loops(loop)) for loop in loops}
    first = min(loops, key=depths.__getitem__)
    last = max(loops, key=depths.__getitem__)
    chain = perfect_chain(first, last)
    for loop in loops:
        if loop not in chain:
            raise refuse(loop, f"it is not in the nest of loop '{last.var.name_hint}'")
    listed = iter(loops)
    order = [next(listed) if loop in depths else loop for loop in chain]
    _nest(chain, order)
    try:
        check_below(order[0], [*enclosing_loops(order[0]), order[0]])
    except ScheduleError:
        _nest(order, chain)
        raise


def _nest(chain: list[ForOp], order: list[ForOp]) -> None:
    """Rebuild the perfect nest `chain` with its loops in the order `order`."""
    place = chain[0].parent_block()
    assert place is not None
    after = chain[0].next_op
    contents = list(chain[-1].body.block.ops)
    for op in [*chain, *contents]:
        op.detach()
    if after is None:
        place.add_op(order[0])
    else:
        place.insert_op_before(order[0], after)
    for outer, inner in pairwise(order):
        outer.body.block.add_op(inner)
    order[-1].body.block.add_ops(contents)
