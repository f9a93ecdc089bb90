"""unroll: repeat the body of a loop in the kernel's text, once per iteration."""

from __future__ import annotations

from ....dialects.tir import EXPANDED, ForOp, LoopKind, enclosing_loops
from .errors import refuse
from .nest import check_plain, set_kind

MAX_COPIES = 1024
"""Limit on the copies of a statement in nested unrolled loops; more slow down drivers."""


def unroll(loop: ForOp) -> None:
    """Expand `loop` in the text of the kernel."""
    check_plain(loop, "unrolled")
    around = 1
    for outer in enclosing_loops(loop):
        if outer.kind.data is LoopKind.Unrolled:
            around *= outer.size
    copies = around * loop.size * _copies_below(loop)
    if copies > MAX_COPIES:
        raise refuse(loop, f"unrolling makes {copies} copies of its body, over {MAX_COPIES}")
    set_kind(loop, LoopKind.Unrolled)


def _copies_below(loop: ForOp) -> int:
    most = 1
    for op in loop.body.block.ops:
        if isinstance(op, ForOp):
            own = op.size if op.kind.data in EXPANDED else 1
            most = max(most, own * _copies_below(op))
    return most
