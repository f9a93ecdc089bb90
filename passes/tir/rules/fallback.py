"""Any kernel: each reduction is computed where its result is needed, by one work-item."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import AffineExpr

from ....dialects import cl, tir
from ..schedule import Schedule
from ..schedule.analysis import accesses, written
from .elementwise import bind_gpu, bind_grid
from .stages import Stage


def needed_depth(stage: Stage, loops: Sequence[tir.ForOp]) -> int:
    """The least number of `loops`, from the outermost, that fixes what is read of `stage`."""
    depth = 0
    for buffer in written(stage.block):
        for consumer in stage.consumers():
            used = _loops_read_by(consumer, [e for _, e in accesses(consumer, buffer)])
            depth = max([depth, *(i + 1 for i, loop in enumerate(loops) if loop in used)])
    return depth


def _loops_read_by(
    block: tir.BlockOp, accesses_: Sequence[Sequence[AffineExpr | None]]
) -> set[tir.ForOp]:
    """The loops that the indices of some accesses of `block` depend on."""
    used: set[tir.ForOp] = set()
    for indices in accesses_:
        for index in indices:
            if index is None:
                continue
            over_loops = index.replace_dims_and_symbols(block.exprs, ())
            for dim in over_loops.used_dims():
                owner = block.loops[dim].owner
                loop = owner.parent_op() if not isinstance(owner, tir.ForOp) else owner
                if isinstance(loop, tir.ForOp):
                    used.add(loop)
    return used


def read_loops(stage: Stage, output: Stage) -> set[tir.ForOp]:
    """The loops of the output that what it reads of `stage` depends on."""
    used: set[tir.ForOp] = set()
    for buffer in written(stage.block):
        used |= _loops_read_by(output.block, [e for _, e in accesses(output.block, buffer)])
    return used


def attach(
    schedule: Schedule, stages: Sequence[Stage], output: Stage
) -> tuple[int, dict[tir.BlockOp, list[tir.ForOp]]]:
    """Compute every stage inside of the output's loops, as far out as its values allow.

    The temporaries become private. Returns how many outer loops of the output remain around all of
    them, which may run in parallel, and the new loops of each stage, spatial ones first.
    """
    shared = len(output.loops)
    placed = {stage.block: stage.loops for stage in stages}
    for stage in reversed(stages):
        depth = needed_depth(stage, output.loops)
        shared = min(shared, depth)
        if depth:
            placed[stage.block] = schedule.compute_at(stage.block, output.loops[depth - 1])
        schedule.keep_private(stage.block)
    return shared, placed


def schedule_anything(
    schedule: Schedule, stages: Sequence[Stage], output: Stage, target: cl.Target
) -> None:
    """Bind the loops that all stages share; everything inside is sequential.

    Loops that no stage depends on go inside, so that a stage is not computed again for each of
    their iterations.
    """
    needed = {loop for stage in stages for loop in read_loops(stage, output)}
    order = sorted(output.loops, key=lambda loop: loop not in needed)
    if order != output.loops:
        schedule.reorder(*order)
    shared, _ = attach(schedule, stages, Stage(output.block, order))
    loops = order[:shared]
    if not loops:
        return
    if target.device_type == "gpu":
        bind_gpu(schedule, loops, target)
    else:
        bind_grid(schedule, loops)
