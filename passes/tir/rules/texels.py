"""Kernels over packed tensors without a reduction: a texel for each work-item."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import cl
from ....dialects.tir import TEXEL
from ..schedule import Schedule
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Parameter, Params, Space, Value
from .stages import Stage, split_lanes
from .work_items import Shape, Shapes, bind_items, together


@dataclass(frozen=True)
class _Facts:
    nests: list[list[int]]
    """The loops over texels of each stage, outermost first."""
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
    sizes = [loop.size for loop in stage.loops]
    lane = stage.lane
    if lane is not None:
        sizes[lane] = -(-sizes[lane] // TEXEL)
    return sizes


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts]:
    facts = _Facts([_texels(stage) for stage in kernel.outputs if stage.loops], target)
    parameters: list[Parameter] = []
    for position in range(len(facts.nests)):

        def domain(params: Params, position: int = position) -> Shapes:
            return facts.shapes(position, params)

        parameters.append(Parameter(_name(position), "work-items of a group", domain))
    return Space(parameters, facts)


def _default(space: Space[_Facts]) -> Params:
    chosen: dict[str, Value] = {}
    for position in range(len(space.facts.nests)):
        chosen[_name(position)] = space.facts.shapes(position, Params(chosen)).best()
    return Params(chosen)


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    stages = [stage for stage in kernel.outputs if stage.loops]
    for position, stage in enumerate(stages):
        loops, lanes = split_lanes(schedule, stage)
        if lanes is not None:
            schedule.reorder(*loops, lanes)
        bind_items(schedule, loops, params.numbers(_name(position)))
        if lanes is not None:
            schedule.vectorize(lanes)


TEXELS = Rule("texels", 1, Kernels(texels=True, reductions=False), _fit, _default, _apply)
"""Stages of one kernel share its groups, so the shape for a later one minds those of the others."""
