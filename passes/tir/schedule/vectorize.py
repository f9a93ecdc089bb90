"""vectorize: turn the iterations of a loop into the lanes of an OpenCL vector."""

from __future__ import annotations

from ....dialects.tir import BarrierOp, ForOp, LoopKind
from .analysis import statements
from .errors import refuse
from .nest import check_plain, check_spatial, set_kind

WIDTHS = (2, 3, 4, 8, 16)
"""The widths of OpenCL's vector types."""


def vectorize(loop: ForOp) -> None:
    """Compute all iterations of an innermost spatial loop at once."""
    check_plain(loop, "vectorized")
    if loop.size not in WIDTHS:
        raise refuse(
            loop, f"OpenCL vectors have 2, 3, 4, 8 or 16 elements, not {loop.size}; split the loop"
        )
    for op in statements(loop.body.block):
        if isinstance(op, ForOp) and op.kind.data is not LoopKind.Unrolled:
            raise refuse(loop, f"it contains loop '{op.var.name_hint}'; vectorize that one")
        if isinstance(op, BarrierOp):
            raise refuse(loop, "it contains a barrier")
    check_spatial(loop, "vectorized")
    set_kind(loop, LoopKind.Vectorized)


def parallel(loop: ForOp) -> None:
    """Mark the iterations of `loop` as independent."""
    check_plain(loop, "made parallel")
    check_spatial(loop, "made parallel")
    set_kind(loop, LoopKind.Parallel)
