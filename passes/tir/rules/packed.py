"""Schedules of kernels that read or write packed tensors: which rule a kernel gets."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import cl, tir
from ....dialects.tir import TEXEL
from ..schedule import Schedule
from ..schedule.analysis import driven
from .elementwise import schedule_border
from .fallback import needed_depth, read_loops
from .group_plan import Plan, plan_groups
from .group_reduction import schedule_groups
from .stages import Stage, main_output
from .texels import apply_texel_tile, lane_variable, split_channels, texel_tile
from .work_items import bind_items


def schedule_packed_kernel(
    schedule: Schedule,
    func: tir.FuncOp,
    outputs: list[Stage],
    producers: list[Stage],
    target: cl.Target,
) -> None:
    """Schedule a naive kernel of which `is_packed` holds."""
    if not producers:
        for stage in outputs:
            schedule_texels(schedule, stage, target)
        return
    output = main_output(func, outputs, producers)
    tile = texel_tile(producers[0], output, target) if len(producers) == 1 else None
    plan: Plan | None = None
    if target.device_type == "gpu":
        # A tile of one texel says that there are too few texels for the device.
        few = tile is not None and tile.columns * tile.blocks == 1
        plan = plan_groups(producers, output, target, contraction=few)
    if plan is not None:
        schedule_groups(schedule, producers, output, plan)
    elif tile is not None:
        apply_texel_tile(schedule, producers[0], output, tile, target)
    else:
        _schedule_shared(schedule, producers, output, target)
    for border in outputs:
        if border is not output:
            _schedule_beside(schedule, border, output)


def is_packed(stages: Sequence[Stage]) -> bool:
    """Whether some stage of a kernel accesses texels."""
    return any(
        lane_variable(stage) is not None or lane_variable(stage, reduce=True) is not None
        for stage in stages
    )


def schedule_texels(schedule: Schedule, stage: Stage, target: cl.Target) -> None:
    """A stage without reductions: a texel for each work-item."""
    loops, lanes = _take_lanes(schedule, stage)
    if lanes is not None:
        schedule.reorder(*loops, lanes)
    if loops:
        bind_items(schedule, loops, target)
    if lanes is not None:
        schedule.vectorize(lanes)


def _schedule_beside(schedule: Schedule, border: Stage, main: Stage) -> None:
    """A small stage beside the main one, by the same work-items."""
    loops, lanes = _take_lanes(schedule, border)
    if lanes is None:
        schedule_border(schedule, border, main)
        return
    schedule.reorder(*loops, lanes)
    schedule_border(schedule, Stage(border.block, loops), main)
    schedule.vectorize(lanes)


def _take_lanes(schedule: Schedule, stage: Stage) -> tuple[list[tir.ForOp], tir.ForOp | None]:
    """The loops of a stage without the lanes of its texels, and those."""
    loops = list(stage.loops)
    lane = lane_variable(stage)
    if lane is None:
        return loops, None
    loops[lane], lanes = schedule.split(loops[lane], TEXEL)
    return loops, lanes


def _schedule_shared(
    schedule: Schedule, stages: Sequence[Stage], output: Stage, target: cl.Target
) -> None:
    """Bind the loops that all stages share; the rest is sequential, the lanes of texels inside.

    Loops that no stage depends on go inside, so that a stage is not computed again for each of
    their iterations; the lanes stay together, since a texel is written whole.
    """
    loops, lanes = _take_lanes(schedule, output)
    around = Stage(output.block, loops)
    needed = {loop for stage in stages for loop in read_loops(stage, around)}
    loops.sort(key=lambda loop: loop not in needed)
    schedule.reorder(*loops, *([] if lanes is None else [lanes]))
    depths = [min(needed_depth(stage, loops), len(loops)) for stage in stages]
    if lanes is not None:
        depths = [
            max(depth, 1) if lanes in read_loops(stage, output) else depth
            for stage, depth in zip(stages, depths, strict=True)
        ]
    shared = min(depths)
    if shared:
        loops[:shared] = [bind_items(schedule, loops[:shared], target)]
    joined = max(shared - 1, 0)
    for stage, depth in zip(reversed(stages), reversed(depths), strict=True):
        if depth:
            _vectorize_texels(
                schedule, stage, schedule.compute_at(stage.block, loops[depth - 1 - joined])
            )
        schedule.keep_private(stage.block)
    if lanes is not None:
        schedule.vectorize(lanes)


def _vectorize_texels(schedule: Schedule, stage: Stage, loops: list[tir.ForOp]) -> None:
    """Compute four channels at once, or the four lanes of each texel that a reduction reads."""
    spatial = [loop for loop in loops if tir.IterKind.Reduce not in driven(stage.block, loop.var)]
    reduce = loops[len(spatial) :]
    lane = lane_variable(stage)
    if lane is not None and spatial[lane].size == TEXEL:
        lanes = spatial.pop(lane)
        channels = split_channels(schedule, stage, reduce)
        schedule.reorder(*spatial, *reduce, *channels, lanes)
        for loop in channels:
            schedule.unroll(loop)
        schedule.vectorize(lanes)
        return
    channels = split_channels(schedule, stage, reduce)
    if channels:
        schedule.reorder(*spatial, *reduce, *channels)
        schedule.unroll(channels[0])
