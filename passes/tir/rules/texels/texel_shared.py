"""Any kernel over packed tensors: work-items for the loops that all stages share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .....dialects import cl, tir
from .....dialects.tir import TEXEL
from ...schedule import Schedule
from ...schedule.analysis import driven
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.attach import needed_depth, read_loops
from ..shared.grid import join_grid_of_texels
from ..space import Domains, Params, Space, numbers
from ..stages import KernelStage, split_channels, split_lanes
from .work_items import Shapes, bind_items

GROUP = numbers("group", "work-items of a group", when="kernels whose stages share loops")


@dataclass(frozen=True)
class SharedNest:
    """The output's loops over texels in their new order, and where the stages are computed."""

    kernel: NaiveKernel

    order: list[int]
    """The variables of the output, outermost first.

    Those that no stage depends on go inside, so that a stage is not computed again for each of
    their iterations; the lanes stay together, since a texel is written whole.
    """
    depths: list[int]
    """In how many of these loops each stage is computed."""
    sizes: list[int]
    """Of the loops that all stages share."""

    @staticmethod
    def of(kernel: NaiveKernel) -> SharedNest:
        """Return the nest of a kernel, however many loops its stages share."""
        stages, output = kernel.producers, kernel.main
        loops, lane = output.loops, output.lane
        needed = {loop for stage in stages for loop in read_loops(stage, output)}
        order = sorted(range(len(loops)), key=lambda i: loops[i] not in needed)
        placed = [loops[i] for i in order]
        depths = [needed_depth(stage, placed) for stage in stages]
        if lane is not None:
            depths = [
                max(depth, 1) if loops[lane] in read_loops(stage, output) else depth
                for stage, depth in zip(stages, depths, strict=True)
            ]
        sizes = [loops[i].size if i != lane else -(-loops[i].size // TEXEL) for i in order]
        return SharedNest(kernel, order, depths, sizes[: min(depths)])


def _domains(nest: SharedNest, target: cl.Target) -> Domains:
    return {GROUP.name: Shapes(nest.sizes, target)} if nest.sizes else {}


def _default(space: Space[SharedNest]) -> Params:
    sizes = space.structure.sizes
    return Params({GROUP.name: Shapes(sizes, space.target).best()} if sizes else {})


def _apply(schedule: Schedule, nest: SharedNest, params: Params) -> None:
    """Bind the loops that all stages share; the rest is sequential, the lanes of texels inside."""
    stages, output = nest.kernel.producers, nest.kernel.main
    over_texels, lanes = split_lanes(schedule, output)
    loops = [over_texels[i] for i in nest.order]
    schedule.reorder(*loops, *([] if lanes is None else [lanes]))
    shared = len(nest.sizes)
    if shared:
        loops[:shared] = [bind_items(schedule, loops[:shared], params.numbers(GROUP.name))]
    joined = max(shared - 1, 0)
    for stage, depth in zip(reversed(stages), reversed(nest.depths), strict=True):
        if depth:
            place = loops[depth - 1 - joined]
            _vectorize_texels(schedule, stage, schedule.compute_at(stage.block, place))
        schedule.keep_private(stage.block)
    if lanes is not None:
        schedule.vectorize(lanes)
    join_grid_of_texels(schedule, nest.kernel.borders, output)


def _vectorize_texels(schedule: Schedule, stage: KernelStage, loops: Sequence[tir.ForOp]) -> None:
    """Compute four channels at once, or the four lanes of each texel that a reduction reads."""
    spatial = [loop for loop in loops if tir.IterKind.Reduce not in driven(stage.block, loop.var)]
    reduce = list(loops[len(spatial) :])
    lane = stage.lane
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


TEXEL_SHARED = Rule(
    "texel-shared",
    1,
    Needs(texels=True, reductions=True),
    (GROUP,),
    SharedNest.of,
    _domains,
    _default,
    _apply,
)
"""The reads of each stage determine the order of the loops and where it is computed."""
