"""Rows of an operand that is not packed, which a work-item reads four elements at a time."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from .....dialects import tir
from .....dialects.tir import TEXEL
from ...schedule.analysis import memref_of, temporary, written
from ..stages import Access, KernelStage, first_address


@dataclass(frozen=True)
class TexelRow:
    """The elements that columns and taps read, if these alone choose lanes of texels."""

    column: int
    """Elements between those of two columns of the result."""
    tap: int
    """The same of two steps of the innermost loop of the reduction."""
    taps: int
    """How often that loop runs."""
    start: int
    """The first element of all."""
    width: int
    """Columns of the result."""

    @staticmethod
    def of(stage: KernelStage, lane: int, column: int | None) -> TexelRow | None:
        """Return the row of a stage; None without such an operand, or if others select lanes."""
        extents, stored = stage.block.iter_extents, written(stage.block)
        running = [i for i in stage.reduce if extents[i] > 1]
        if column is None or not running:
            return None
        for access, moves in stage.strides.items():
            if access.memref in stored or moves[lane] != 0 or not moves[column]:
                continue
            others = [moves[i] for i in range(len(extents)) if i not in (column, running[-1])]
            step, tap, start = moves[column], moves[running[-1]], first_address(stage, access)
            if step is None or tap is None or start is None or not _is_plain(access):
                return None
            if any(move is None or move % TEXEL for move in others):
                return None
            return TexelRow(step, tap, extents[running[-1]], start, extents[column])
        return None

    @property
    def are_patches(self) -> bool:
        """Whether columns share no elements, and each consists of whole texels."""
        whole = (self.taps, self.column, self.start)
        is_whole = all(count % TEXEL == 0 for count in whole)
        return self.tap == 1 and is_whole and self.column >= self.taps

    def is_aligned(self, columns: int) -> bool:
        """Return whether all tiles start at the same lane; the last may overlap the one before."""
        return all(count * self.column % TEXEL == 0 for count in (columns, self.width))

    def texels(self, columns: int, taps: int) -> int:
        """Return how many texels hold the elements that a step of a tile reads."""
        reads = (i * self.column + j * self.tap for i in range(columns) for j in range(taps))
        return len({(self.start + read) // TEXEL for read in reads})


def _is_plain(access: Access) -> bool:
    type_ = memref_of(access.memref)
    if temporary(access.memref) is not None or not tir.is_texel_type(type_.element_type):
        return False
    return not tir.is_texture(type_) and prod(type_.get_shape()) % TEXEL == 0
