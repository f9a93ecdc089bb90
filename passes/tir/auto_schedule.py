"""Schedule every kernel by the first rule that fits."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects import cl, tir
from .apply_schedule import apply_schedule
from .rules.columns import schedule_columns, walks_columns
from .rules.elementwise import schedule_border, schedule_elementwise
from .rules.fallback import schedule_anything
from .rules.gpu import apply_gpu_tile, apply_matmul, gpu_tile, matmul_operands
from .rules.group_plan import plan_groups
from .rules.group_reduction import schedule_groups
from .rules.packed import is_packed, schedule_packed_kernel
from .rules.register_tile import Problem, apply_tile, best_tile, problem_of
from .rules.rows import row_length, schedule_rows
from .rules.stages import Stage, is_naive, main_output, stages_of
from .schedule import Schedule


def schedule_kernel(func: tir.FuncOp, target: cl.Target) -> list[str]:
    """Schedule one naive kernel; returns the steps that were done."""
    schedule = Schedule(func)
    _schedule(schedule, target)
    schedule.commit()
    return schedule.steps


def _schedule(schedule: Schedule, target: cl.Target) -> None:
    func = schedule.func
    stages = stages_of(func)
    outputs = [stage for stage in stages if stage.is_output]
    producers = [stage for stage in stages if not stage.is_output]
    if target.uses_textures and is_packed(stages):
        schedule_packed_kernel(schedule, func, outputs, producers, target)
        return
    if target.device_type == "cpu":
        # Our work-items are worth a group each; a driver left to choose may put all into one, which
        # then runs on one core.
        schedule.local_size(1, 1, 1)
    if not producers:
        _schedule_pieces(schedule, outputs, target)
        return
    output = main_output(func, outputs, producers)
    problem = problem_of(func, producers, [output], target)
    if target.device_type == "gpu":
        _schedule_gpu(schedule, problem, producers, output, target)
    else:
        _schedule_cpu(schedule, func, problem, producers, output, target)
    for border in outputs:
        if border is not output:
            schedule_border(schedule, border, output)


def _schedule_pieces(schedule: Schedule, outputs: list[Stage], target: cl.Target) -> None:
    """Each piece of a result by itself; borders of padding, which read nothing, join its grid."""
    main = max(outputs, key=lambda stage: stage.points)
    borders = [stage for stage in outputs if stage is not main and not stage.block.loads()]
    pieces = [stage for stage in outputs if stage not in borders]
    for stage in pieces:
        schedule_elementwise(schedule, stage, target, one_axis=len(pieces) > 1)
    for stage in borders:
        schedule_border(schedule, stage, main)


def _schedule_cpu(
    schedule: Schedule,
    func: tir.FuncOp,
    problem: Problem | None,
    producers: list[Stage],
    output: Stage,
    target: cl.Target,
) -> None:
    tile = None if problem is None else best_tile(problem)
    rows = all(row_length(stage) >= 2 * target.vector_width for stage in producers)
    if problem is not None and tile is not None and not (tile.gathers and rows):
        apply_tile(schedule, problem, tile)
    elif rows:
        schedule_rows(schedule, func, output, target)
    elif walks_columns(producers, output, target):
        schedule_columns(schedule, producers, output, target)
    else:
        schedule_anything(schedule, producers, output, target)


def _schedule_gpu(
    schedule: Schedule,
    problem: Problem | None,
    producers: list[Stage],
    output: Stage,
    target: cl.Target,
) -> None:
    matmul = None if problem is None else matmul_operands(problem)
    plan = plan_groups(producers, output, target)
    tile = None if problem is None else gpu_tile(problem)
    if problem is not None and matmul is not None:
        apply_matmul(schedule, problem, *matmul)
    elif plan is not None:
        schedule_groups(schedule, producers, output, plan)
    elif problem is not None and tile is not None:
        apply_gpu_tile(schedule, problem, tile)
    else:
        schedule_anything(schedule, producers, output, target)


class TIRAutoSchedulePass(ModulePass):
    """Give the loops of each kernel their places on the device that `cl.target` names.

    A kernel that carries a `schedule` gets that one. A kernel without blocks, or whose loops are
    split or have places already, stays as its author wrote it.
    """

    name = "tir-auto-schedule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        for func in op.ops:
            if not isinstance(func, tir.FuncOp) or func.global_size is not None:
                continue
            if func.schedule is not None:
                apply_schedule(func)
            elif is_naive(func):
                schedule_kernel(func, target)
