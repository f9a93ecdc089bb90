"""Kernels between plain tensors on devices with textures: four neighbours for each work-item.

One element for each takes longer than its work: addresses of 64 bits, and the divisions that take
the number of a work-item apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import scf

from ....dialects import cl
from ....dialects.tir import TEXEL
from ....dialects.walking import operations_in
from ..schedule import Schedule
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Misfit, Parameter, Params, Space
from .stages import Stage
from .work_items import Shapes, bind_items


@dataclass(frozen=True)
class _Facts:
    nest: list[int]
    """The loops over texels, outermost first."""
    target: cl.Target

    @property
    def shapes(self) -> Shapes:
        return Shapes(self.nest, self.target)


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts] | Misfit:
    if not (target.uses_textures and target.texels_of_rows):
        return Misfit("the device does not read rows by texels")
    if len(kernel.outputs) != 1 or not _is_in_rows(kernel.outputs[0]):
        return Misfit("it does not read and write the elements of rows side by side")
    *outer, inner = (loop.size for loop in kernel.outputs[0].loops)
    facts = _Facts([*outer, inner // TEXEL], target)
    return Space([Parameter("group", "work-items of a group", facts.shapes)], facts)


def _is_in_rows(stage: Stage) -> bool:
    """Whether each access moves by an element with the last variable, or not at all."""
    if not stage.loops or stage.loops[-1].size % TEXEL:
        return False
    if any(isinstance(op, scf.IfOp) for op in operations_in(stage.block.body)):
        return False
    return all(None not in moves and moves[-1] in (0, 1) for moves in stage.strides.values())


def _default(space: Space[_Facts]) -> Params:
    return Params({"group": space.facts.shapes.best()})


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    loops = list(kernel.outputs[0].loops)
    loops[-1], lanes = schedule.split(loops[-1], TEXEL)
    bind_items(schedule, loops, params.numbers("group"))
    schedule.vectorize(lanes)


ROW_TEXELS = Rule(
    "row-texels", 1, Kernels(device="gpu", texels=False, reductions=False), _fit, _default, _apply
)
"""The other rules for plain memory on a GPU suit devices that gather the loads of neighbours."""
