"""Estimate plans: schedule and lower one kernel with the passes of the pipeline."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from ...dialects import cl, tir
from ..cl.pack_constants import CLPackConstantsPass
from ..estimate import Estimate, estimate, work_of
from .apply_plan import TIRApplyPlanPass
from .expand_erf import TIRExpandErfPass
from .form_dots import TIRFormDotsPass
from .hoist_guards import TIRHoistGuardsPass
from .lower_blocks import TIRLowerBlocksPass
from .lower_textures import TIRLowerTexturesPass
from .split_kernels import TIRSplitKernelsPass

_PASSES: tuple[ModulePass, ...] = (
    TIRApplyPlanPass(),
    TIRSplitKernelsPass(),
    TIRApplyPlanPass(),
    # There is no program here, so this pass only changes parameter types.
    CLPackConstantsPass(),
    TIRLowerBlocksPass(),
    TIRHoistGuardsPass(),
    TIRExpandErfPass(),
    TIRFormDotsPass(),
    TIRLowerTexturesPass(),
)
"""The passes of the pipeline `schedule` that change the loops of one kernel."""


def estimate_plan(func: tir.FuncOp, plan: tir.Plan, target: cl.Target) -> Estimate:
    """Estimate the time of a naive kernel with a plan.

    If the plan splits the kernel, the launches of its parts follow each other. Raises ScheduleError
    if the plan does not fit the kernel.
    """
    kernel = func.clone()
    kernel.plan = tir.PlanAttr(plan)
    module = ModuleOp([kernel])
    cl.set_target(module, target)
    PassPipeline(_PASSES).apply(Context(), module)
    return estimate((work_of(op) for op in module.ops if isinstance(op, tir.FuncOp)), target)
