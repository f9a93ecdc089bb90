"""reorder: loops of one perfect nest take each other's places."""

from __future__ import annotations

from itertools import pairwise

from ....dialects.tir import ForOp, enclosing_loops
from .errors import ScheduleError, refuse
from .nest import check_below, perfect_chain


def reorder(*loops: ForOp) -> None:
    """Put `loops` in the listed order into the places that they hold now; others stay.

    Every order computes the same: spatial iterations are independent, and the order in which a
    reduction accumulates is free.
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
            raise refuse(loop, f"it is in another nest than loop '{last.var.name_hint}'")
    listed = iter(loops)
    order = [next(listed) if loop in depths else loop for loop in chain]
    _nest(chain, order)
    try:
        check_below(order[0], [*enclosing_loops(order[0]), order[0]])
    except ScheduleError:
        _nest(order, chain)
        raise


def _nest(chain: list[ForOp], order: list[ForOp]) -> None:
    """Rebuild the perfect nest `chain` with the loops in the sequence `order`."""
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
