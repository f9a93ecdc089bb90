"""Kernels over packed tensors without a reduction: a texel for each work-item."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ....dialects import cl
from ....dialects.tir import TEXEL
from ..schedule import Schedule
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Parameter, Params, Space, Value
from .stages import Stage, split_lanes
from .work_items import Shape, Shapes, bind_items, together

_WAVES = 4
"""Waves that should be in flight on a core of a GPU."""


@dataclass(frozen=True)
class _Facts:
    nests: list[list[int]]
    """The loops over texels of each stage, outermost first."""
    in_rows: bool
    """Whether work-items are to be neighbours along the rows of plain buffers."""
    mixes: bool
    """Whether the device's compiler would mix stages that together read more texels than there are
    registers for."""
    target: cl.Target

    def shapes(self, position: int, params: Params) -> Shapes:
        """The groups of a stage, which are also those of the stages before it."""
        others: Shape = ()
        for before in range(position):
            others = together(params.numbers(_name(before)), others)
        return Shapes(self.nests[position], self.target, others)


def _name(position: int) -> str:
    return "group" if position == 0 else f"group_{position}"


def _texels(stage: Stage) -> list[int]:
    if stage.view is not None:
        return stage.view.sizes(stage.block.iter_extents)
    sizes = [loop.size for loop in stage.loops]
    lane = stage.lane
    if lane is not None:
        sizes[lane] = -(-sizes[lane] // TEXEL)
    return sizes


def _accesses_in_rows(stage: Stage) -> int:
    """The accesses of an item to plain buffers along which work-items can be neighbours.

    The four elements of a texel lie far apart there.
    """
    lane = stage.lane
    if lane is None:
        return 0
    return sum(steps[-1] == 1 and (steps[lane] or 1) > 1 for steps in stage.strides.values())


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts]:
    stages = [stage for stage in kernel.outputs if stage.loops]
    most = max((_accesses_in_rows(stage) for stage in stages), default=0)
    in_rows = 0 < target.row_accesses <= most
    reads = sum(len(list(stage.block.loads())) for stage in stages)
    mixes = target.rolled_loops and reads > target.registers // _WAVES
    facts = _Facts([_texels(stage) for stage in stages], in_rows, mixes, target)
    parameters: list[Parameter] = []
    for position in range(len(facts.nests)):

        def domain(params: Params, position: int = position) -> Shapes:
            return facts.shapes(position, params)

        parameters.append(Parameter(_name(position), "work-items of a group", domain))
    if len(stages) > 1:
        text = "whether each stage is a loop whose bound is hidden from the device's compiler"
        parameters.append(Parameter("apart", text, Choice((0, 1))))
    return Space(parameters, facts)


def _default(space: Space[_Facts]) -> Params:
    chosen: dict[str, Value] = {}
    facts = space.facts
    wanted = min(facts.target.preferred_work_group, facts.target.max_work_group_size)
    for position, nest in enumerate(facts.nests):
        # One axis alone has whole rows, however short they are.
        row = (min(wanted, prod(nest)),)
        shapes = facts.shapes(position, Params(chosen))
        chosen[_name(position)] = row if facts.in_rows and row in shapes else shapes.best()
    if len(facts.nests) > 1:
        chosen["apart"] = int(facts.mixes)
    return Params(chosen)


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    stages = [stage for stage in kernel.outputs if stage.loops]
    for position, stage in enumerate(stages):
        if stage.view is not None:
            loops, lanes = stage.view.split(schedule, stage.loops)
        else:
            loops, lanes = split_lanes(schedule, stage)
        if lanes is not None:
            schedule.reorder(*loops, lanes)
        if len(stages) > 1 and params.number("apart"):
            loops[-1], once = schedule.split(loops[-1], 1)
            schedule.roll(once)
        bind_items(schedule, loops, params.numbers(_name(position)))
        if lanes is None:
            continue
        if stage.view is not None and stage.view.is_ragged:
            # Only the last lanes need a guard, each its own.
            schedule.unroll(lanes)
        else:
            schedule.vectorize(lanes)


TEXELS = Rule("texels", 2, Kernels(texels=True, reductions=False), _fit, _default, _apply)
"""Stages of one kernel share its groups, so the shape for a later one minds those of the others."""
