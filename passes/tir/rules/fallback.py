"""Any kernel: each reduction is computed where its result is needed, by one work-item."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import cl, tir
from ..schedule import Schedule
from .attach import attach, read_loops
from .grid import (
    DEFAULT_LOCAL_SIZE,
    LOCAL_SIZE,
    bind_grid,
    bind_groups,
    group_parameter,
    group_size,
    join_grid,
    local_size_parameter,
)
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Params, Space
from .stages import Stage


@dataclass(frozen=True)
class _Facts:
    kernel: NaiveKernel
    target: cl.Target


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts]:
    gpu = target.device_type == "gpu"
    parameter = group_parameter(target) if gpu else local_size_parameter(target)
    return Space((parameter,), _Facts(kernel, target))


def _default(space: Space[_Facts]) -> Params:
    facts = space.facts
    if facts.target.device_type != "gpu":
        return Params({LOCAL_SIZE: DEFAULT_LOCAL_SIZE})
    # Which loops the stages share is seen once they are in place: a trial.
    trial = Schedule(facts.kernel.func)
    loops = _attach_all(trial, NaiveKernel(trial.func))
    return Params({"group": group_size(loops[-1].size if loops else 1, facts.target)})


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    """Bind the loops that all stages share; everything inside is sequential."""
    main, borders = kernel.main, kernel.borders
    if LOCAL_SIZE in params.values:
        schedule.local_size(*params.numbers(LOCAL_SIZE))
    loops = _attach_all(schedule, kernel)
    if loops and LOCAL_SIZE in params.values:
        bind_grid(schedule, loops)
    elif loops:
        bind_groups(schedule, loops, params.number("group"))
    join_grid(schedule, borders, main)


def _attach_all(schedule: Schedule, kernel: NaiveKernel) -> list[tir.ForOp]:
    """Compute all stages inside of the output's loops; returns those that they share.

    Loops that no stage depends on go inside, so that a stage is not computed again for each of
    their iterations.
    """
    stages, output = kernel.producers, kernel.main
    needed = {loop for stage in stages for loop in read_loops(stage, output)}
    order = sorted(output.loops, key=lambda loop: loop not in needed)
    if order != output.loops:
        schedule.reorder(*order)
    shared, _ = attach(schedule, stages, Stage(output.block, order))
    return order[:shared]


FALLBACK = Rule("fallback", 1, Kernels(texels=False, reductions=True), _fit, _default, _apply)
"""Where stages are computed follows from what is read of them."""
