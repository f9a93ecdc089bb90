"""Walks over operations, for the hot loops of passes: xDSL's own slow down with depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from xdsl.ir import Operation, Region

OperationT = TypeVar("OperationT", bound=Operation)


def operations_in(*regions: Region) -> Iterator[Operation]:
    """Every operation of the regions, as `Region.walk` gives them: in the order of the text.

    The operation at hand may be erased; its neighbours may not be.
    """
    pending = [block.first_op for region in regions for block in region.blocks][::-1]
    while pending:
        op = pending.pop()
        if op is None:
            continue
        pending.append(op.next_op)
        if not op.regions:
            yield op
            continue
        inner = [block.first_op for region in op.regions for block in region.blocks]
        yield op
        pending += reversed(inner)


def operations_of(kind: type[OperationT], *regions: Region) -> Iterator[OperationT]:
    """Every operation of the regions whose class is `kind`, in the order of the text."""
    for op in operations_in(*regions):
        # Not isinstance: a negative answer for an abstract class takes longer than the walk.
        if type(op) is kind:
            yield op
