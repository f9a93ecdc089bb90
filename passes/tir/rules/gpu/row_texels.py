"""Kernels between plain tensors on devices with textures: each work-item computes four neighbours.

For a single element, 64-bit addresses and the divisions that recover indices from the global id
would take longer than the work.
"""

from __future__ import annotations

from xdsl.dialects import scf

from .....dialects import cl
from .....dialects.tir import TEXEL
from .....dialects.walking import operations_in
from ...schedule import Schedule
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..space import Domains, NotApplicable, Params, Space, numbers
from ..stages import KernelStage
from ..texels.work_items import Shapes, bind_items

GROUP = numbers("group", "work-items of a group")


def _rows(kernel: NaiveKernel) -> KernelStage | NotApplicable:
    """Return the stage that reads and writes rows."""
    if len(kernel.outputs) != 1 or not _is_in_rows(kernel.outputs[0]):
        return NotApplicable("it does not read and write the elements of rows side by side")
    return kernel.outputs[0]


def _is_in_rows(stage: KernelStage) -> bool:
    """Return whether each access moves by one element, or none, along the last variable."""
    if not stage.loops or stage.loops[-1].size % TEXEL:
        return False
    if any(isinstance(op, scf.IfOp) for op in operations_in(stage.block.body)):
        return False
    return all(None not in moves and moves[-1] in (0, 1) for moves in stage.strides.values())


def _shapes(stage: KernelStage, target: cl.Target) -> Shapes:
    *outer, inner = (loop.size for loop in stage.loops)
    return Shapes([*outer, inner // TEXEL], target)


def _domains(stage: KernelStage, target: cl.Target) -> Domains:
    return {GROUP.name: _shapes(stage, target)}


def _objection(space: Space[KernelStage]) -> str | None:
    if space.target.uses_textures and space.target.compiler.texels_of_rows:
        return None
    return "the device's compiler joins the loads of neighbours"


def _default(space: Space[KernelStage]) -> Params:
    return Params({GROUP.name: space.model(_shapes).best()})


def _apply(schedule: Schedule, stage: KernelStage, params: Params) -> None:
    loops = list(stage.loops)
    loops[-1], lanes = schedule.split(loops[-1], TEXEL)
    bind_items(schedule, loops, params.numbers(GROUP.name))
    schedule.vectorize(lanes)


ROW_TEXELS = Rule(
    "row-texels",
    1,
    Needs(device="gpu", texels=False, reductions=False),
    (GROUP,),
    _rows,
    _domains,
    _default,
    _apply,
    _objection,
)
"""The other rules for plain memory on a GPU suit devices that join the loads of neighbours."""
