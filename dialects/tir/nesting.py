"""Verification of nested loops.

A loop bound to an OpenCL index runs its body once, for the index of the work-item. Loops that
select the work-group, or the work-item of a kernel without groups, may only be inside loops of
these kinds. Loops that select a work-item in a group may also be inside a loop that all work-items
run together. Neither may be inside a vectorized loop, whose iterations are the lanes of one
work-item. A path binds each index at most once, and a kernel uses either the global index of an
axis or its group and local indices.

| | in serial, parallel, rolled, unrolled | in vectorized | in global, group | in local |
|---|---|---|---|---|
| global, group | no | no | on another axis | no |
| local | yes | no | yes, but not in global of its axis | on another axis |
| others | yes | yes | yes | yes |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from xdsl.utils.exceptions import VerifyException

from .attributes import GRID, PLAIN, LoopKind

if TYPE_CHECKING:
    from .ops import ForOp

_FAMILIES = {
    "global": ("global", "group", "local"),
    "group": ("global", "group"),
    "local": ("global", "local"),
}
"""The indices that exclude an index on the same axis."""


def verify_nesting(loop: ForOp, around: Sequence[ForOp]) -> None:
    """Raise VerifyException unless `loop` may be inside the loops `around`, outermost first.

    A plain loop that runs once does not matter: it is removed.
    """
    kind = loop.kind.data
    if not kind.is_bound:
        return
    for outer in around:
        other = outer.kind.data
        if outer.size == 1 and other in PLAIN:
            continue
        if other is LoopKind.Vectorized:
            raise VerifyException(f"a {kind.value} loop cannot be inside a vectorized loop")
        if kind in GRID and other not in GRID:
            raise VerifyException(
                f"a {kind.value} loop must have only global and group loops around it"
            )
        if other.is_bound and _exclude(kind, other):
            name = outer.var.name_hint
            raise VerifyException(
                f"{kind.value} is already bound: loop '{name}' around it is {other.value}"
            )


def verify_indices(kinds: Iterable[LoopKind]) -> None:
    """Raise VerifyException if the loops of one kernel use an axis with and without groups."""
    bound = sorted({kind for kind in kinds if kind.is_bound})
    for kind in bound:
        for other in bound:
            if kind is not other and kind.value.startswith("global") and _exclude(kind, other):
                raise VerifyException(f"loops are bound to both {kind.value} and {other.value}")


def _exclude(kind: LoopKind, other: LoopKind) -> bool:
    """Return whether two indices cannot be used together on one path."""
    family, _, _ = kind.value.partition("_")
    rival, _, _ = other.value.partition("_")
    return kind.axis == other.axis and rival in _FAMILIES[family]
