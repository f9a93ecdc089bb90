"""bind: run a loop over the work-items or work-groups of an OpenCL index."""

from __future__ import annotations

from ....dialects.tir import ForOp, LoopKind
from .analysis import blocks_in, temporary, written
from .errors import refuse
from .nest import check_plain, check_spatial, set_kind


def bind(loop: ForOp, kind: LoopKind) -> None:
    """Make the variable of `loop` the OpenCL index `kind`.

    A block that does not depend on the variable runs once per index, which is legal only if it
    writes only temporaries.
    """
    if not kind.is_bound:
        raise refuse(loop, f"'{kind.value}' is not an OpenCL index")
    check_plain(loop, "bound")
    check_spatial(loop, "bound")
    for block in blocks_in(loop):
        if (
            loop.size > 1
            and loop.var not in block.loops
            and any(not temporary(b) for b in written(block))
        ):
            raise refuse(
                loop,
                f"block '{block.label.data}' does not depend on it "
                "and would write an output once per index",
            )
    set_kind(loop, kind)
