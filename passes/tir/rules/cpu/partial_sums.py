"""Partial sums: a work-item adds up deep reductions a part at a time, in memory of its own.

A tile of accumulators walks its operands once over the whole reduction. A deep one has left the
caches when the next tile of the work-item reads the same again. With parts, the loops nest as in
GotoBLAS: the work-item computes a part of the sums of all of its tiles, each in registers, and
adds them to its sums in private memory, before it goes on to the next part.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType

from .....dialects import tir
from ...schedule import Schedule
from ...schedule.analysis import memref_of, written
from ..shared.contraction import Contraction, Tile, tile_loops
from ..space import Choice, number
from .beliefs import divisors

PARTS = number("parts", "parts of each sum, which a work-item adds up in its memory")
_WHOLE = Choice((1,))


def parts_domain(problem: Contraction, tile: Tile, chunk: int, room: float) -> Choice:
    """Return the parts that a work-item can divide its reduction into; 1 keeps sums in registers.

    Its sums may take `room` bytes. Each result is added up once, so that there are no parts if the
    last of the work-item's tiles would overlap another one.
    """
    fits = sums_bytes(problem, tile, chunk) <= room
    distinct = chunk * tile.rows <= problem.extents[tile.row]
    if not (fits and distinct and problem.has_parts):
        return _WHOLE
    return Choice(divisors(problem.longest_steps))


def sums_bytes(problem: Contraction, tile: Tile, chunk: int) -> int:
    """Return the bytes of the sums of `chunk` tiles; halves are summed as floats."""
    (sums,) = written(problem.stage.block)
    each = max(cast(FixedBitwidthType, memref_of(sums).element_type).size, 4)
    return chunk * tile.rows * tile.cols * each


def add_parts(schedule: Schedule, problem: Contraction, parts: int) -> tir.BlockOp:
    """Let another stage add up parts of the sums; return its block."""
    loop = problem.stage.loops[problem.longest]
    outer, _ = schedule.split(loop, loop.size // parts)
    _, total = schedule.rfactor_tree(outer, parts)
    return total


def tile_total(
    schedule: Schedule, problem: Contraction, tile: Tile, total: tir.BlockOp, item: tir.ForOp
) -> tuple[tir.ForOp, tir.ForOp]:
    """Add up the sums of all tiles in `item`; return the loops over parts and over tiles."""
    *spatial, parts = schedule.compute_at(total, item)
    tiles, row = schedule.split(spatial[tile.row], tile.rows)
    spatial[tile.row] = row
    tile_loops(schedule, tile, spatial, [parts, tiles])
    schedule.keep_private(total)
    return parts, tiles
