"""Kernels over packed tensors without a reduction: each work-item computes a texel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod

from .....dialects import cl
from .....dialects.tir import TEXEL
from ...schedule import Schedule
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..space import AnyDomain, Choice, Domains, Params, Space, Value, number, numbers
from ..stages import KernelStage, split_lanes
from .work_items import Shape, Shapes, bind_items, together

_WAVES = 4
"""Waves that should be in flight on a core of a GPU, to hide the latency of reads."""


GROUP = numbers(
    "group", "work-items of a group", when="one for each stage that has loops", repeated=True
)
APART = number(
    "apart",
    "whether each stage is a loop whose bound is hidden from the device's compiler",
    when="kernels of several stages",
)


@dataclass(frozen=True)
class TexelStages:
    """The stages of a kernel that compute texels."""

    stages: list[KernelStage]
    nests: list[list[int]]
    """The sizes of the loops over texels of each stage, outermost first."""

    @staticmethod
    def of(kernel: NaiveKernel) -> TexelStages:
        """Return the stages that have loops."""
        stages = [stage for stage in kernel.outputs if stage.loops]
        return TexelStages(stages, [_texels(stage) for stage in stages])

    @property
    def row_accesses(self) -> int:
        """The most accesses of a stage along which work-items can be neighbours in a plain row."""
        return max((_accesses_in_rows(stage) for stage in self.stages), default=0)

    @property
    def reads(self) -> int:
        """The texels that all stages read at once."""
        return sum(len(list(stage.block.loads())) for stage in self.stages)

    def shapes(self, position: int, target: cl.Target, params: Params) -> Shapes:
        """Return the groups of a stage; the stages before it have the same groups."""
        others: Shape = ()
        for before in range(position):
            others = together(params.numbers(GROUP.at(before)), others)
        return Shapes(self.nests[position], target, others)


def _texels(stage: KernelStage) -> list[int]:
    if stage.view is not None:
        return stage.view.sizes(stage.block.iter_extents)
    sizes = [loop.size for loop in stage.loops]
    lane = stage.lane
    if lane is not None:
        sizes[lane] = -(-sizes[lane] // TEXEL)
    return sizes


def _accesses_in_rows(stage: KernelStage) -> int:
    """Return how many accesses to plain buffers let work-items be neighbours along memory.

    The four elements of a texel lie far apart in these.
    """
    lane = stage.lane
    if lane is None:
        return 0
    return sum(steps[-1] == 1 and (steps[lane] or 1) > 1 for steps in stage.strides.values())


def _domains(structure: TexelStages, target: cl.Target) -> Domains:
    found: dict[str, AnyDomain] = {
        GROUP.at(i): partial(structure.shapes, i, target) for i in range(len(structure.stages))
    }
    if len(structure.stages) > 1:
        found[APART.name] = Choice((0, 1))
    return found


def _default(space: Space[TexelStages]) -> Params:
    chosen: dict[str, Value] = {}
    structure, target = space.structure, space.target
    in_rows = 0 < target.machine.row_accesses <= structure.row_accesses
    wanted = min(target.machine.preferred_work_group, target.device.max_work_group_size)
    for position, nest in enumerate(structure.nests):
        # One axis alone has whole rows, however short they are.
        row = (min(wanted, prod(nest)),)
        shapes = structure.shapes(position, target, Params(chosen))
        chosen[GROUP.at(position)] = row if in_rows and row in shapes else shapes.best()
    if len(structure.nests) > 1:
        # Otherwise the compiler interleaves stages that together read more texels than fit in
        # registers.
        mixes = (
            target.compiler.rolled_loops and structure.reads > target.machine.registers // _WAVES
        )
        chosen[APART.name] = int(mixes)
    return Params(chosen)


def _apply(schedule: Schedule, structure: TexelStages, params: Params) -> None:
    for position, stage in enumerate(structure.stages):
        if stage.view is not None:
            loops, lanes = stage.view.split(schedule, stage.loops)
        else:
            loops, lanes = split_lanes(schedule, stage)
        if lanes is not None:
            schedule.reorder(*loops, lanes)
        if len(structure.stages) > 1 and params.number(APART.name):
            loops[-1], once = schedule.split(loops[-1], 1)
            schedule.roll(once)
        bind_items(schedule, loops, params.numbers(GROUP.at(position)))
        if lanes is None:
            continue
        if stage.view is not None and stage.view.is_ragged:
            # Only the last lanes need a guard, each its own.
            schedule.unroll(lanes)
        else:
            schedule.vectorize(lanes)


TEXELS = Rule(
    "texels",
    2,
    Needs(texels=True, reductions=False),
    (GROUP, APART),
    TexelStages.of,
    _domains,
    _default,
    _apply,
)
"""Stages of a kernel share its groups, so the shape of a later stage depends on the earlier
ones."""
