"""Any kernel: each reduction is computed where its result is needed, by one work-item."""

from __future__ import annotations

from dataclasses import replace

from .....dialects import cl, tir
from ...schedule import Schedule
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..space import Domains, Params, Space, number
from ..stages import KernelStage
from .attach import attach, read_loops
from .grid import (
    DEFAULT_LOCAL_SIZE,
    LOCAL_SIZE,
    bind_grid,
    bind_groups,
    group_size,
    group_sizes,
    join_grid,
    local_sizes,
)

GROUP = number(
    "group",
    "work-items of a group along x; 0 binds loops to global indices, with groups of local_size",
    when="kernels on a GPU",
    absent=0,
)
SIZE = replace(LOCAL_SIZE, when="kernels on a CPU", absent=DEFAULT_LOCAL_SIZE)


def _domains(kernel: NaiveKernel, target: cl.Target) -> Domains:
    if target.device.device_type == "gpu":
        return {GROUP.name: group_sizes(target)}
    return {SIZE.name: local_sizes(target)}


def _default(space: Space[NaiveKernel]) -> Params:
    if space.target.device.device_type != "gpu":
        return Params({SIZE.name: DEFAULT_LOCAL_SIZE})
    # The shared loops are known only after the stages are placed, so try it on a copy.
    trial = Schedule(space.structure.func)
    loops = _attach_all(trial, NaiveKernel(trial.func))
    return Params({GROUP.name: group_size(loops[-1].size if loops else 1, space.target)})


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    """Bind the loops that all stages share; everything inside is sequential."""
    main, borders = kernel.main, kernel.borders
    group = params.number(GROUP.name)
    if not group:
        schedule.local_size(*params.numbers(SIZE.name))
    loops = _attach_all(schedule, kernel)
    if loops and group:
        bind_groups(schedule, loops, group)
    elif loops:
        bind_grid(schedule, loops)
    join_grid(schedule, borders, main)


def _attach_all(schedule: Schedule, kernel: NaiveKernel) -> list[tir.ForOp]:
    """Compute all stages inside of the output's loops; return the loops that they share.

    Loops that no stage depends on go inside, so that a stage is not computed again for each of
    their iterations.
    """
    stages, output = kernel.producers, kernel.main
    needed = {loop for stage in stages for loop in read_loops(stage, output)}
    order = sorted(output.loops, key=lambda loop: loop not in needed)
    if order != output.loops:
        schedule.reorder(*order)
    shared, _ = attach(schedule, stages, KernelStage(output.block, order))
    return order[:shared]


def _whole(kernel: NaiveKernel) -> NaiveKernel:
    return kernel


FALLBACK = Rule(
    "fallback",
    1,
    Needs(texels=False, reductions=True),
    (SIZE, GROUP),
    _whole,
    _domains,
    _default,
    _apply,
)
"""The reads of a stage determine where it is computed."""
