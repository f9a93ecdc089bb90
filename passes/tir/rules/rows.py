"""Reductions along memory on a CPU: softmax, layer norm, means. A work-item takes whole rows."""

from __future__ import annotations

from ....dialects import cl, tir
from ..schedule import Schedule
from ..schedule.analysis import driven
from ..schedule.errors import ScheduleError
from .elementwise import bind_grid
from .fallback import attach
from .stages import Stage, stages_of, strides


def row_length(stage: Stage) -> int:
    """How many elements in a row of memory the reduction walks; 0 where it walks none."""
    if not stage.reduce:
        return 0
    moves = list(strides(stage.block).values())
    if not any(move[stage.reduce[-1]] == 1 for move in moves):
        return 0
    length = 1
    for position in reversed(stage.reduce):
        if any(move[position] not in (0, length) for move in moves):
            break
        length *= stage.block.iter_extents[position]
    return length


def schedule_rows(schedule: Schedule, func: tir.FuncOp, output: Stage, target: cl.Target) -> None:
    """Reduce each row with vectors, then write it with vectors; rows run in parallel."""
    width = target.vector_width
    partial = [
        _factor(schedule, stage.block, width) for stage in stages_of(func) if not stage.is_output
    ]
    stages = [stage for stage in stages_of(func) if not stage.is_output]
    shared, placed = attach(schedule, stages, output)
    for block, loops in placed.items():
        if block in partial:
            reduce = [loop for loop in loops if tir.IterKind.Reduce in driven(block, loop.var)]
            lanes = next(loop for loop in reversed(loops) if loop not in reduce)
            schedule.reorder(*reduce, lanes)
            schedule.vectorize(lanes)
        elif loops and loops[-1].size == width:
            schedule.unroll(loops[-1])
    inner = output.loops[shared:]
    alone = inner and inner[-1].body.block.first_op is output.block
    if alone and inner[-1].size >= width:
        _, lanes = schedule.split(inner[-1], width, overlap=True)
        schedule.vectorize(lanes)
    if shared:
        bind_grid(schedule, output.loops[:shared])


def _factor(schedule: Schedule, block: tir.BlockOp, width: int) -> tir.BlockOp | None:
    """Keep `width` partial results of a reduction along memory; returns the block of those."""
    loop = _fused_reduction(schedule, block)
    if loop is None or loop.size < 2 * width or len(block.stores()) > 1:
        return None
    _, lanes = schedule.split(loop, width)
    try:
        return schedule.rfactor(lanes)
    except ScheduleError:
        return None  # not associative, so the order of the elements is kept


def _fused_reduction(schedule: Schedule, block: tir.BlockOp) -> tir.ForOp | None:
    """The loop over the reduce variables that memory walks as one; None if it does not walk it."""
    moves = list(strides(block).values())
    loops = tir.enclosing_loops(block)
    positions = [i for i, kind in enumerate(block.iter_kinds) if kind is tir.IterKind.Reduce]
    if not positions or not any(move[positions[-1]] == 1 for move in moves):
        return None
    reduce = [loop for loop in loops if tir.IterKind.Reduce in driven(block, loop.var)]
    loop = reduce[-1]
    for outer, position in reversed(list(zip(reduce[:-1], positions[:-1], strict=False))):
        extent = loop.size
        if any(move[position] != (move[positions[-1]] or 0) * extent for move in moves):
            break
        loop = schedule.fuse(outer, loop)
    return loop
