"""Conservative bounds of the elements that an operation accesses."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from xdsl.ir import SSAValue

from ....dialects.vta import (
    AluOp,
    GemmOp,
    Scratchpad,
    StoreOp,
    TileOp,
    UopsAttr,
    UopsOp,
)
from ....dialects.vta.transfers import TransferOp

Place: TypeAlias = Scratchpad | SSAValue
"""A scratchpad, or a buffer in DRAM."""


class ElementRange(NamedTuple):
    """Elements `begin` to `end` (exclusive) of a place."""

    place: Place
    begin: int
    end: int
    writes: bool


def touched(op: TileOp) -> Iterator[ElementRange]:
    """Yield the ranges that other stages can access too.

    Sums and micro-ops belong to a single stage.
    """
    match op:
        case TransferOp():
            rows, columns = op.sizes
            is_store = isinstance(op, StoreOp)
            end = op.offset + (rows - 1) * op.stride + columns
            yield ElementRange(op.buffer, op.offset, end, is_store)
            top, bottom, left, right = op.pads
            count = (top + rows + bottom) * (left + columns + right)
            if op.space is not Scratchpad.ACC:
                yield ElementRange(op.space, op.base, op.base + count, not is_store)
        case GemmOp() | AluOp():
            yield ElementRange(Scratchpad.OUT, *_bounds(op, 0), True)
            if isinstance(op, GemmOp) and not op.reset:
                yield ElementRange(Scratchpad.INP, *_bounds(op, 1), False)
                yield ElementRange(Scratchpad.WGT, *_bounds(op, 2), False)
        case _:
            pass


def _bounds(op: UopsOp, index: int) -> tuple[int, int]:
    """Return the range of a tile's indices, end exclusive; `index` selects dst, src or wgt."""
    first, last = _extremes(op.uops_attr)[index]
    return first, last + sum((loop.extent - 1) * loop[1 + index] for loop in op.loops) + 1


@lru_cache(maxsize=1 << 14)
def _extremes(uops: UopsAttr) -> list[tuple[int, int]]:
    return [(min(indices), max(indices)) for indices in zip(*uops.data, strict=True)]
