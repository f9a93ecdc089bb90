"""The attributes that convolutions and poolings share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..builder import GraphBuilder
from ..values import Value


def kernel(g: GraphBuilder, x: Value) -> list[int]:
    """The extents of a window over `x`, at times beyond its border."""
    most = (0, 9, 5, 3)[x.rank - 2]
    return [min(g.one_of(1, 2, 3, 3, 3, 4, 5, 7), most, n + 1) for n in x.shape[2:]]


def strides(g: GraphBuilder, rank: int) -> list[int]:
    """One stride for all axes, or one each."""
    if g.chance(0.5):
        return [g.one_of(1, 1, 2, 3)] * rank
    return [g.one_of(1, 2, 3) for _ in range(rank)]


def dilations(g: GraphBuilder, rank: int) -> list[int]:
    """Mostly none."""
    return [g.one_of(1, 2, 3) for _ in range(rank)] if g.chance(0.3) else [1] * rank


def padding(g: GraphBuilder, extents: Sequence[int]) -> dict[str, Any]:
    """`pads` smaller than the window, often different at each side, or `auto_pad`."""
    if g.chance(0.25):
        return {"auto_pad": g.one_of("SAME_UPPER", "SAME_LOWER", "VALID")}
    if g.chance(0.4):
        return {"pads": [n // 2 for n in extents] * 2}
    return {"pads": [g.random.randint(0, n - 1) for n in [*extents, *extents]]}
