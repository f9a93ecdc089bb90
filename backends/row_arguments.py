"""The arguments of a launch that say where rows of buffers start."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ..dialects.cl import Kernel, row_of
from .launches import RowStart


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
