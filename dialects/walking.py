"""Fast walks over operations for hot loops: xDSL's walks slow down with the nesting depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from xdsl.ir import Operation, Region

OperationT = TypeVar("OperationT", bound=Operation)


def operations_in(*regions: Region) -> Iterator[Operation]:
    """Yield every operation of the regions in the order of the text, as `Region.walk` does.

    The current operation may be erased during the walk, its neighbours may not.
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
    """Yield every operation of the regions whose class is exactly `kind`, in text order."""
    for op in operations_in(*regions):
        # `isinstance` on an abstract class takes longer for a negative answer than the walk itself.
        if type(op) is kind:
            yield op
