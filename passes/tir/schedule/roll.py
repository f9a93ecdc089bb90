"""roll: keep the device's compiler from unrolling a loop."""

from __future__ import annotations

from ....dialects.tir import ForOp, LoopKind
from .nest import check_plain, set_kind


def roll(loop: ForOp) -> None:
    """Hide the bound of `loop` from the device's compiler by making it a kernel argument.

    A compiler that unrolls a short loop around a register tile doubles the registers and halves the
    work-items in flight.
    """
    check_plain(loop, "rolled")
    set_kind(loop, LoopKind.Rolled)
