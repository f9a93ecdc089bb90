"""Stages are computed inside of the loops of the output that reads them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import AffineExpr

from .....dialects import tir
from ...schedule import Schedule
from ...schedule.analysis import accesses, written
from ..stages import KernelStage


def needed_depth(stage: KernelStage, loops: Sequence[tir.ForOp]) -> int:
    """Return how many outer `loops` fix which results of `stage` are read."""
    depth = 0
    for buffer in written(stage.block):
        for consumer in stage.consumers():
            used = _loops_read_by(consumer, [e for _, e in accesses(consumer, buffer)])
            depth = max([depth, *(i + 1 for i, loop in enumerate(loops) if loop in used)])
    return depth


def _loops_read_by(
    block: tir.BlockOp, accesses_: Sequence[Sequence[AffineExpr | None]]
) -> set[tir.ForOp]:
    """Return the loops that the indices of some accesses of `block` depend on."""
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


def read_loops(stage: KernelStage, output: KernelStage) -> set[tir.ForOp]:
    """Return the loops of the output that choose which results of `stage` it reads."""
    used: set[tir.ForOp] = set()
    for buffer in written(stage.block):
        used |= _loops_read_by(output.block, [e for _, e in accesses(output.block, buffer)])
    return used


def attach(
    schedule: Schedule, stages: Sequence[KernelStage], output: KernelStage
) -> tuple[int, dict[tir.BlockOp, list[tir.ForOp]]]:
    """Compute every stage inside of the output's loops, as far in as all its consumers allow.

    The temporaries become private. Return how many outer loops of the output remain around all
    stages, which may run in parallel, and the new loops of each stage, spatial ones first.
    """
    shared = len(output.loops)
    placed = {stage.block: stage.loops for stage in stages}
    depths: dict[tir.BlockOp, int] = {}
    for stage in reversed(stages):
        # A stage that the output and another stage read stays outside of the place of the latter.
        around = (depths[block] for block in stage.consumers() if block in depths)
        depth = min((needed_depth(stage, output.loops), *around))
        depths[stage.block] = depth
        shared = min(shared, depth)
        if depth:
            placed[stage.block] = schedule.compute_at(stage.block, output.loops[depth - 1])
        schedule.keep_private(stage.block)
    return shared, placed
