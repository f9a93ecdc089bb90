"""Reductions across memory on a CPU (a softmax over channels): a work-item takes some columns."""

from __future__ import annotations

from dataclasses import dataclass

from .....dialects import cl, tir
from ...schedule import Schedule
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.attach import attach, read_loops
from ..shared.grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_sizes
from ..space import Choice, Domains, NotApplicable, Params, Space, number
from ..stages import KernelStage

_WIDTHS = (2, 4, 8, 16)


WIDTH = number("width", "columns of a work-item, the lanes of a vector")


@dataclass(frozen=True)
class Columns:
    """A kernel in which every stage computes neighbouring columns from neighbouring columns."""

    kernel: NaiveKernel
    count: int

    @staticmethod
    def of(kernel: NaiveKernel) -> Columns | NotApplicable:
        """Return the columns, which are the last variable of the result."""
        output = kernel.main
        if not output.loops or output.loops[-1].size < _WIDTHS[0]:
            return NotApplicable("its result has no vector of columns")
        column = output.loops[-1]
        shared = all(column in read_loops(stage, output) for stage in kernel.producers)
        stages = [*kernel.producers, output]
        if not shared or not all(_is_vector(stage, column.size) for stage in stages):
            return NotApplicable(
                "neighbouring results do not need neighbouring columns in every stage"
            )
        return Columns(kernel, column.size)


def _domains(columns: Columns, target: cl.Target) -> Domains:
    widths = tuple(width for width in _WIDTHS if width <= columns.count)
    return {LOCAL_SIZE.name: local_sizes(target), WIDTH.name: Choice(widths)}


def _objection(space: Space[Columns]) -> str | None:
    count = space.structure.count
    if count < space.target.machine.vector_width:
        return f"its result has {count} columns, less than a vector of the device"
    return None


def _is_vector(stage: KernelStage, size: int) -> bool:
    """Return whether every access moves by one element, or none, along the last variable."""
    if len(stage.block.stores()) != 1 or not stage.spatial:
        return False
    last = stage.spatial[-1]
    moves = [move[last] for move in stage.strides.values()]
    return stage.block.iter_extents[last] == size and all(move in (0, 1) for move in moves)


def _default(space: Space[Columns]) -> Params:
    width = space.target.machine.vector_width
    return space.nearest(Params({LOCAL_SIZE.name: DEFAULT_LOCAL_SIZE, WIDTH.name: width}))


def _apply(schedule: Schedule, structure: Columns, params: Params) -> None:
    """Compute all stages for a vector of columns at a time."""
    schedule.local_size(*params.numbers(LOCAL_SIZE.name))
    kernel = structure.kernel
    stages, output, borders = kernel.producers, kernel.main, kernel.borders
    needed = {loop for stage in stages for loop in read_loops(stage, output)}
    *loops, column = output.loops
    columns, lanes = schedule.split(column, params.number(WIDTH.name), overlap=True)
    inner = [loop for loop in loops if loop not in needed]
    outer = [*(loop for loop in loops if loop in needed), columns]
    schedule.reorder(*outer, *inner, lanes)
    _, placed = attach(schedule, stages, KernelStage(output.block, [*outer, *inner]))
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
    Needs(device="cpu", texels=False, reductions=True),
    (LOCAL_SIZE, WIDTH),
    Columns.of,
    _domains,
    _default,
    _apply,
    objection=_objection,
)
"""Loops that no stage depends on run inside of a work-item; the others are the grid."""
