"""Walks over operations, for the hot loops of passes: xDSL's own slow down with depth."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, Region


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
