"""Rules for nesting loops of different kinds."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ....dialects.tir import (
    PLAIN,
    ForOp,
    IterKind,
    LoopKind,
    LoopKindAttr,
    enclosing_loops,
    verify_indices,
    verify_nesting,
)
from .analysis import blocks_in, driven, func_of, statements
from .errors import ScheduleError, refuse


def check_plain(loop: ForOp, action: str) -> None:
    """Refuse a loop that is neither serial nor parallel, so that it cannot be transformed."""
    if loop.kind.data not in PLAIN:
        raise refuse(loop, f"it is {loop.kind.data.value} and can no longer be {action}")


def check_path(path: Sequence[ForOp]) -> None:
    """Refuse loops of `path`, outermost first, whose kinds cannot be nested like this."""
    for position, loop in enumerate(path):
        outside = path[:position]
        try:
            verify_nesting(loop, outside)
        except VerifyException as error:
            raise refuse(loop, str(error)) from None
        kind = loop.kind.data
        for other in outside:
            if kind.is_bound and other.kind.data is LoopKind.Unrolled:
                raise refuse(loop, f"a {kind.value} loop cannot be inside an unrolled loop")
            if kind is not LoopKind.Unrolled and other.kind.data is LoopKind.Vectorized:
                raise refuse(other, "a vectorized loop can contain only unrolled loops")


def check_below(loop: ForOp, path: Sequence[ForOp]) -> None:
    """Apply `check_path` to every path through `loop`; `path` leads to it and ends with it."""
    inner = [op for op in loop.body.block.ops if isinstance(op, ForOp)]
    if not inner:
        check_path(path)
    for child in inner:
        check_below(child, [*path, child])


def check_indices(loop: ForOp) -> None:
    """Refuse `loop` if its kernel uses an axis of the device in two ways."""
    try:
        ops = statements(func_of(loop).body.block)
        verify_indices(op.kind.data for op in ops if isinstance(op, ForOp))
    except VerifyException as error:
        raise refuse(loop, str(error)) from None


def set_kind(loop: ForOp, kind: LoopKind) -> None:
    """Set the kind of `loop`, unless it conflicts with the loops around it or inside it."""
    before = loop.kind
    loop.kind = LoopKindAttr(kind)
    try:
        check_below(loop, [*enclosing_loops(loop), loop])
        if kind.is_bound:
            check_indices(loop)
    except ScheduleError:
        loop.kind = before
        raise


def perfect_chain(outer: ForOp, inner: ForOp) -> list[ForOp]:
    """Return the loops from `outer` to `inner`; refuse if they are not perfectly nested."""
    chain = [inner]
    while chain[-1] is not outer:
        parent = chain[-1].parent_op()
        if not isinstance(parent, ForOp):
            raise refuse(inner, f"it is not inside loop '{outer.var.name_hint}'")
        if not only_child(chain[-1]):
            raise refuse(parent, "the loops must be perfectly nested, but it has other statements")
        chain.append(parent)
    return chain[::-1]


def only_child(op: Operation) -> bool:
    """Return whether `op` is the only operation of its block."""
    return op.next_op is None and op.prev_op is None


def check_spatial(loop: ForOp, action: str) -> None:
    """Refuse parallel iterations that accumulate into the same element."""
    for block in blocks_in(loop):
        if IterKind.Reduce in driven(block, loop.var):
            raise refuse(
                loop,
                f"it drives a reduction of block '{block.label.data}' and cannot be {action}; "
                "factor the reduction first",
            )
