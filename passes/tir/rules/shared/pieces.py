"""Kernels without a reduction: the stages that each compute a piece of the result."""

from __future__ import annotations

from math import prod

from .....dialects import tir
from ...schedule import Schedule
from ..naive_kernel import NaiveKernel
from ..stages import KernelStage, blocked_variable

_WIDTHS = (1, 2, 4, 8, 16)


class Pieces:
    """The stages that each compute a piece of the result."""

    def __init__(self, kernel: NaiveKernel):
        self.main = max(kernel.outputs, key=lambda stage: stage.points)
        """The longest piece."""
        self.borders = [
            stage for stage in kernel.outputs if stage is not self.main and not stage.block.loads()
        ]
        """The borders of padding, which share the grid of the pieces."""
        self.pieces = [
            stage for stage in kernel.outputs if stage not in self.borders and stage.loops
        ]
        """The stages that read something."""
        self.sizes = [_sizes(stage) for stage in self.pieces]
        self.lanes = [_lanes(stage) for stage in self.pieces]

    def widths(self, piece: int) -> tuple[int, ...]:
        """Return the lanes that vectors of a piece may have: those of a block if it has blocks."""
        lanes = self.lanes[piece]
        if lanes is not None:
            return (lanes[1],)
        return tuple(width for width in _WIDTHS if width <= self.sizes[piece][-1])

    def vectors(self, piece: int, width: int) -> int:
        """Return how many vectors a piece has."""
        if self.lanes[piece] is not None:
            return self.pieces[piece].points // width
        *outer, inner = self.sizes[piece]
        return prod(outer) * -(-inner // width)


def _lanes(stage: KernelStage) -> tuple[int, int] | None:
    """Return the variable along which a piece is written in whole blocks, and their size."""
    stores = stage.block.stores()
    found = blocked_variable(stage, stores[0]) if len(stores) == 1 else None
    return found if found and stage.block.iter_extents[found[0]] % found[1] == 0 else None


def _sizes(stage: KernelStage) -> list[int]:
    return [prod(stage.loops[i].size for i in group) for group in contiguous_groups(stage)]


def contiguous_groups(stage: KernelStage) -> list[list[int]]:
    """Return neighbouring variables in groups that every access walks like one variable.

    Variables i and j (inner) are contiguous if each access moves by `extent(j)` steps of j per step
    of i, so that no index needs a division afterwards.
    """
    moves = list(stage.strides.values())
    sizes = [loop.size for loop in stage.loops]
    groups, last, size = [[0]], 0, sizes[0]
    for position in range(1, len(sizes)):
        extent = sizes[position]
        together = all(
            move[last] is not None
            and move[position] is not None
            and move[last] == (move[position] or 0) * extent
            for move in moves
        )
        if together or size == 1 or extent == 1:
            groups[-1].append(position)
            last = position if extent > 1 else last
            size *= extent
        else:
            groups.append([position])
            last, size = position, extent
    return groups


def collapse(schedule: Schedule, stage: KernelStage) -> list[tir.ForOp]:
    """Fuse the loops of each group; the innermost that runs repeatedly gives the name."""
    fused: list[tir.ForOp] = []
    for group in contiguous_groups(stage):
        loops = [stage.loops[i] for i in group]
        named = next((loop for loop in reversed(loops[1:]) if loop.size > 1), loops[0])
        fused.append(schedule.fuse(*loops, name=named.var.name_hint))
    return fused
