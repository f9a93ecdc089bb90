"""Rules on how loops of different kinds nest."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from ....dialects.tir import ForOp, IterKind, LoopKind
from .analysis import EXPANDED, GRID, PLAIN, blocks_in, driven
from .errors import refuse


def check_plain(loop: ForOp, action: str) -> None:
    """Only a loop that is still serial or parallel can be transformed."""
    if loop.kind.data not in PLAIN:
        raise refuse(loop, f"it is {loop.kind.data.value} and can no longer be {action}")


def check_path(path: Sequence[ForOp]) -> None:
    """Whether loops of these kinds may stand inside each other, outermost first.

    A plain loop that runs once is no obstacle: it vanishes.
    """
    axes: dict[tuple[str, int], ForOp] = {}
    for position, loop in enumerate(path):
        kind = loop.kind.data
        outside = [o for o in path[:position] if o.size != 1 or o.kind.data not in PLAIN]
        if kind in GRID and any(o.kind.data not in GRID for o in outside):
            raise refuse(loop, f"a {kind.value} loop has only global and group loops around it")
        if kind.is_bound:
            if any(o.kind.data in EXPANDED for o in outside):
                raise refuse(loop, f"a {kind.value} loop cannot be inside an expanded loop")
            _check_axis(loop, kind, axes)
        if kind is not LoopKind.Unrolled:
            for other in outside:
                if other.kind.data is LoopKind.Vectorized:
                    raise refuse(other, "a vectorized loop has only unrolled loops inside")


def _check_axis(loop: ForOp, kind: LoopKind, axes: dict[tuple[str, int], ForOp]) -> None:
    family = kind.value[:-2]
    rivals = ("global", "group", "local") if family == "global" else ("global", family)
    for rival in rivals:
        other = axes.get((rival, kind.axis))
        if other is not None:
            raise refuse(
                loop,
                f"{kind.value} is taken: loop '{other.var.name_hint}' around it "
                f"is {other.kind.data.value}",
            )
    axes[family, kind.axis] = loop


def check_below(loop: ForOp, path: Sequence[ForOp]) -> None:
    """`check_path` for every path through `loop`; `path` leads to it and ends with it."""
    inner = [op for op in loop.body.block.ops if isinstance(op, ForOp)]
    if not inner:
        check_path(path)
    for child in inner:
        check_below(child, [*path, child])


def perfect_chain(outer: ForOp, inner: ForOp) -> list[ForOp]:
    """The loops from `outer` to `inner`, each the only operation of the one around it."""
    chain = [inner]
    while chain[-1] is not outer:
        parent = chain[-1].parent_op()
        if not isinstance(parent, ForOp):
            raise refuse(inner, f"it is not inside of loop '{outer.var.name_hint}'")
        if not only_child(chain[-1]):
            raise refuse(parent, "the loops are not perfectly nested: it has other statements")
        chain.append(parent)
    return chain[::-1]


def only_child(op: Operation) -> bool:
    """Whether nothing stands beside `op`."""
    return op.next_op is None and op.prev_op is None


def check_spatial(loop: ForOp, action: str) -> None:
    """Iterations that run at once must not accumulate into the same element."""
    for block in blocks_in(loop):
        if IterKind.Reduce in driven(block, loop.var):
            raise refuse(
                loop,
                f"it drives a reduction of block '{block.label.data}' and cannot be {action}; "
                "factor the reduction first",
            )
