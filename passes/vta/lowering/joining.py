"""Placement of concatenated operands: in the result, if they are computed by a task."""

from __future__ import annotations

from collections.abc import Sequence, Set

from xdsl.ir import SSAValue

from ....dialects.vta import ConcatOp, Config
from ....dialects.vta.layers import shape_of
from .packing import activation_tiles, blocks
from .tasks import VTATask


def parts_of(op: ConcatOp, config: Config) -> list[tuple[SSAValue, int]]:
    """Return the operands, each with its first tile in an image of the result."""
    parts: list[tuple[SSAValue, int]] = []
    first = 0
    for value in op.inputs:
        parts.append((value, first))
        first += tiles_of_image(value, config)
    return parts


def images_of(value: SSAValue, config: Config) -> int:
    """Return the number of images of activations, in tiles."""
    return blocks(shape_of(value)[0], config.batch)


def tiles_of_image(value: SSAValue, config: Config) -> int:
    """Return the number of tiles per image of activations."""
    return activation_tiles(shape_of(value), config) // images_of(value, config)


def homes_of(
    tasks: Sequence[VTATask], kept: Set[SSAValue], config: Config
) -> dict[SSAValue, tuple[SSAValue, int]]:
    """Map task results that lie in a concatenation to it and their first tile there.

    Outer concatenations come first. `kept` values have separate buffers. If a result has several
    images, an operand's channels are not contiguous in it, so the operand is copied.
    """
    free = {task.result for task in tasks} - kept
    homes: dict[SSAValue, tuple[SSAValue, int]] = {}
    for task in reversed(tasks):
        op = task.root
        if not isinstance(op, ConcatOp) or images_of(op.result, config) > 1:
            continue
        for value, first in parts_of(op, config):
            if value in free:
                free.remove(value)
                homes[value] = op.result, first
    return homes
