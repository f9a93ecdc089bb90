"""Reductions across memory on a CPU: a softmax over channels. A work-item takes some columns."""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import cl, tir
from ..schedule import Schedule
from .attach import attach, read_loops
from .grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_size_parameter
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Parameter, Params, Space
from .stages import Stage

_WIDTHS = (2, 4, 8, 16)


@dataclass(frozen=True)
class _Facts:
    columns: int
    target: cl.Target


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts] | Misfit:
    output = kernel.main
    if not output.loops or output.loops[-1].size < _WIDTHS[0]:
        return Misfit("its result has no vector of columns")
    column = output.loops[-1]
    shared = all(column in read_loops(stage, output) for stage in kernel.producers)
    stages = [*kernel.producers, output]
    if not shared or not all(_is_vector(stage, column.size) for stage in stages):
        return Misfit("neighbouring results do not need neighbouring columns in every stage")
    widths = tuple(width for width in _WIDTHS if width <= column.size)
    parameter = Parameter("width", "columns of a work-item, the lanes of a vector", Choice(widths))
    return Space((local_size_parameter(target), parameter), _Facts(column.size, target))


def _objection(space: Space[_Facts]) -> str | None:
    if space.facts.columns < space.facts.target.vector_width:
        return f"its result has {space.facts.columns} columns, less than a vector of the device"
    return None


def _is_vector(stage: Stage, size: int) -> bool:
    """Whether the last spatial variable runs along memory in each access, or stands still."""
    if len(stage.block.stores()) != 1 or not stage.spatial:
        return False
    last = stage.spatial[-1]
    moves = [move[last] for move in stage.strides.values()]
    return stage.block.iter_extents[last] == size and all(move in (0, 1) for move in moves)


def _default(space: Space[_Facts]) -> Params:
    width = space.facts.target.vector_width
    return space.nearest(Params({LOCAL_SIZE: DEFAULT_LOCAL_SIZE, "width": width}))


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    """Compute all stages for a vector of columns at a time."""
    schedule.local_size(*params.numbers(LOCAL_SIZE))
    stages, output, borders = kernel.producers, kernel.main, kernel.borders
    needed = {loop for stage in stages for loop in read_loops(stage, output)}
    *loops, column = output.loops
    columns, lanes = schedule.split(column, params.number("width"), overlap=True)
    inner = [loop for loop in loops if loop not in needed]
    outer = [*(loop for loop in loops if loop in needed), columns]
    schedule.reorder(*outer, *inner, lanes)
    _, placed = attach(schedule, stages, Stage(output.block, [*outer, *inner]))
    for block, own in placed.items():
        spatial = block.iter_kinds.count(tir.IterKind.Spatial)
        schedule.reorder(*own[spatial:], own[spatial - 1])
        schedule.vectorize(own[spatial - 1])
    schedule.vectorize(lanes)
    bind_grid(schedule, outer)
    join_grid(schedule, borders, output)


COLUMNS = Rule(
    "columns",
    1,
    Kernels(device="cpu", texels=False, reductions=True),
    _fit,
    _default,
    _apply,
    objection=_objection,
)
"""Loops that no stage depends on run inside of a work-item: the others are its grid."""
