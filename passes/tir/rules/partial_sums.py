"""Partial sums: a work-item adds up deep reductions a part at a time, in memory of its own.

A tile of accumulators walks its operands once over the whole reduction. A deep one has left the
caches when the next tile of the work-item reads the same again. With parts, the loops nest as in
GotoBLAS: the work-item computes a part of the sums of all of its tiles, each in registers, and
adds them to its sums in private memory, before it goes on to the next part.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType

from ....dialects import cl, tir
from ..schedule import Schedule
from ..schedule.analysis import memref_of, written
from ..schedule.combine import can_combine
from .contraction import Contraction, Tile, tile_loops
from .space import Choice

PARTS = "parts"
_WHOLE = Choice((1,))


def parts_domain(
    problem: Contraction, tile: Tile, chunk: int, target: cl.Target, alone: bool
) -> Choice:
    """The parts that a work-item can divide its reduction into; 1 keeps sums in registers.

    `alone` if a group has one work-item, whose memory is large. Each result is added up once, so
    that there are no parts where the last of the work-item's tiles would overlap another one.
    """
    rows = chunk * tile.rows
    fits = rows * tile.cols * _sum_bytes(problem) <= target.l2_cache_bytes / 2
    distinct = rows <= problem.extents[tile.row]
    if not (alone and fits and distinct and can_combine(problem.stage.block)):
        return _WHOLE
    steps = problem.longest_steps
    return Choice(tuple(n for n in range(1, steps + 1) if steps % n == 0))


def _sum_bytes(problem: Contraction) -> int:
    """The bytes of a sum; those of halves are floats."""
    (sums,) = written(problem.stage.block)
    return max(cast(FixedBitwidthType, memref_of(sums).element_type).size, 4)


def add_parts(schedule: Schedule, problem: Contraction, parts: int) -> tir.BlockOp:
    """Let a stage of its own add up parts of the sums; returns its block."""
    loop = problem.stage.loops[problem.longest]
    outer, _ = schedule.split(loop, loop.size // parts)
    _, total = schedule.rfactor_tree(outer, parts)
    return total


def tile_total(
    schedule: Schedule, problem: Contraction, tile: Tile, total: tir.BlockOp, item: tir.ForOp
) -> tuple[tir.ForOp, tir.ForOp]:
    """Add up the sums of all tiles in `item`; returns the loops over parts and over tiles."""
    *spatial, parts = schedule.compute_at(total, item)
    tiles, row = schedule.split(spatial[tile.row], tile.rows)
    spatial[tile.row] = row
    tile_loops(schedule, tile, spatial, [parts, tiles])
    schedule.keep_private(total)
    return parts, tiles
