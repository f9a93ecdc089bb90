"""fetch_ahead: let loads prefetch memory that later loads read."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue

from ....dialects.tir import AHEAD, BlockOp
from .analysis import temporary
from .errors import refuse


def fetch_ahead(block: BlockOp, buffer: SSAValue, distance: int) -> None:
    """Let loads of a parameter also prefetch the element `distance` bytes after theirs.

    This is a cache hint on CPUs, for operands that do not fit into a cache. It changes no value,
    and may name an address past the end of the buffer.
    """
    if temporary(buffer) is not None:
        raise refuse(block, f"'{buffer.name_hint}' is a temporary, not a parameter")
    if distance < 1:
        raise refuse(block, f"the distance must be at least one byte, not {distance}")
    found = [load for load in block.loads() if load.memref is buffer]
    if not found:
        raise refuse(block, f"it does not read '{buffer.name_hint}'")
    for load in found:
        load.attributes[AHEAD] = IntegerAttr(distance, i64)
