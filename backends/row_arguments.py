"""The arguments of a launch that say where rows of buffers start."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ..dialects.cl import EnqueueCopyOp, Kernel, row_of
from .launches import RowStart


def buffer_of_row(value: SSAValue) -> SSAValue:
    """Return the buffer that a kernel gets for a value; a row is part of one."""
    row = row_of(value)
    return value if row is None else row.source


def copy_steps(copy: EnqueueCopyOp) -> tuple[int, int]:
    """Return the bytes by which source and destination move after each iteration."""
    source, destination = row_of(copy.source), row_of(copy.destination)
    return (
        0 if source is None else source.step,
        0 if destination is None else destination.step,
    )


def row_arguments(kernel: Kernel, args: Sequence[SSAValue]) -> list[RowStart]:
    """Return the index arguments of a launch, which follow its buffers and bounds.

    An argument that is a whole buffer starts at element 0.
    """
    found: list[RowStart] = []
    for position, number in enumerate(kernel.rows, len(args) + len(kernel.bounds)):
        row = row_of(args[number])
        if row is None:
            found.append(RowStart(position, 0, 0))
        else:
            size = row.element_bytes
            found.append(RowStart(position, row.start // size, row.step // size))
    return found
