"""fetch_ahead: loads ask the memory for what later ones read."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from ....dialects.tir import AHEAD, BlockOp
from .analysis import temporary
from .errors import refuse


def fetch_ahead(block: BlockOp, buffer: SSAValue, distance: int) -> None:
    """Let loads of a parameter ask for the element `distance` bytes behind theirs, too.

    A hint to the caches of a CPU, for operands that no cache holds: it changes no value, and may
    name an address behind the end of the buffer.
    """
    if temporary(buffer) is not None:
        raise refuse(block, f"'{buffer.name_hint}' is a temporary, which no memory must send")
    if distance < 1:
        raise refuse(block, f"a distance is at least one byte, not {distance}")
    found = [load for load in block.loads() if load.memref is buffer]
    if not found:
        raise refuse(block, f"it does not read '{buffer.name_hint}'")
    for load in found:
        load.attributes[AHEAD] = IntegerAttr(distance, i64)
