"""Reductions across memory on a CPU: a softmax over channels. A work-item takes some columns."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import cl, tir
from ..schedule import Schedule
from .elementwise import bind_grid
from .fallback import attach, read_loops
from .stages import Stage, strides


def walks_columns(stages: Sequence[Stage], output: Stage, target: cl.Target) -> bool:
    """Whether neighbouring results need neighbouring columns, in every stage."""
    if not output.loops or output.loops[-1].size < target.vector_width:
        return False
    shared = all(output.loops[-1] in read_loops(stage, output) for stage in stages)
    return shared and all(_is_vector(stage, output.loops[-1].size) for stage in [*stages, output])


def _is_vector(stage: Stage, size: int) -> bool:
    """Whether the last spatial variable runs along memory in each access, or stands still."""
    if len(stage.block.stores()) != 1 or not stage.spatial:
        return False
    last = stage.spatial[-1]
    moves = [move[last] for move in strides(stage.block).values()]
    return stage.block.iter_extents[last] == size and all(move in (0, 1) for move in moves)


def schedule_columns(
    schedule: Schedule, stages: Sequence[Stage], output: Stage, target: cl.Target
) -> None:
    """Compute all stages for a vector of columns at a time."""
    needed = {loop for stage in stages for loop in read_loops(stage, output)}
    *loops, column = output.loops
    columns, lanes = schedule.split(column, target.vector_width, overlap=True)
    inner = [loop for loop in loops if loop not in needed]
    outer = [*(loop for loop in loops if loop in needed), columns]
    schedule.reorder(*outer, *inner, lanes)
    _, placed = attach(schedule, stages, Stage(output.block, [*outer, *inner]))
    for block, own in placed.items():
        spatial = block.iter_kinds.count(tir.IterKind.Spatial)
        schedule.reorder(*own[spatial:], own[spatial - 1])
        schedule.vectorize(own[spatial - 1])
    schedule.vectorize(lanes)
    bind_grid(schedule, outer)
