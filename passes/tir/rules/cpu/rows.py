"""Reductions along memory on a CPU (softmax, layer norm, means): a work-item takes whole rows."""

from __future__ import annotations

from dataclasses import dataclass

from .....dialects import cl, tir
from ...schedule import Schedule
from ...schedule.analysis import driven
from ...schedule.combine import can_combine
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..shared.attach import attach
from ..shared.grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_sizes
from ..shared.row_structure import row_length
from ..space import Choice, Domains, NotApplicable, Params, Space, number
from ..stages import stages_of, strides

_WIDTHS = (2, 4, 8, 16)


WIDTH = number("width", "partial results of a row, the lanes of a vector")


@dataclass(frozen=True)
class WalkedRows:
    """The reductions of a kernel that walk rows of memory."""

    kernel: NaiveKernel
    shortest: int
    """Elements of the shortest row."""

    @staticmethod
    def of(kernel: NaiveKernel) -> WalkedRows | NotApplicable:
        """Return the rows of a kernel if each has at least two vectors."""
        shortest = min(row_length(stage) for stage in kernel.producers)
        if 2 * _WIDTHS[0] > shortest:
            return NotApplicable(_too_short(shortest))
        return WalkedRows(kernel, shortest)


def _domains(rows: WalkedRows, target: cl.Target) -> Domains:
    widths = tuple(width for width in _WIDTHS if 2 * width <= rows.shortest)
    return {LOCAL_SIZE.name: local_sizes(target), WIDTH.name: Choice(widths)}


def _too_short(shortest: int) -> str:
    return f"its reductions do not all walk two vectors along memory, but {shortest} elements"


def _objection(space: Space[WalkedRows]) -> str | None:
    shortest = space.structure.shortest
    return _too_short(shortest) if shortest < 2 * space.target.machine.vector_width else None


def _default(space: Space[WalkedRows]) -> Params:
    width = space.target.machine.vector_width
    return space.nearest(Params({LOCAL_SIZE.name: DEFAULT_LOCAL_SIZE, WIDTH.name: width}))


def _apply(schedule: Schedule, rows: WalkedRows, params: Params) -> None:
    """Reduce each row with vectors, then write it with vectors; rows run in parallel."""
    schedule.local_size(*params.numbers(LOCAL_SIZE.name))
    width, kernel = params.number(WIDTH.name), rows.kernel
    output, borders = kernel.main, kernel.borders
    partial = [_factor(schedule, stage.block, width) for stage in kernel.producers]
    stages = [stage for stage in stages_of(schedule.func) if not stage.is_output]
    shared, placed = attach(schedule, stages, output)
    for block, loops in placed.items():
        if block in partial:
            reduce = [loop for loop in loops if tir.IterKind.Reduce in driven(block, loop.var)]
            lanes = next(loop for loop in reversed(loops) if loop not in reduce)
            schedule.reorder(*reduce, lanes)
            schedule.vectorize(lanes)
        elif loops and loops[-1].size == width:
            schedule.unroll(loops[-1])
    inner = output.loops[shared:]
    alone = inner and inner[-1].body.block.first_op is output.block
    if alone and inner[-1].size >= width:
        _, lanes = schedule.split(inner[-1], width, overlap=True)
        schedule.vectorize(lanes)
    if shared:
        bind_grid(schedule, output.loops[:shared])
    join_grid(schedule, borders, output)


def _factor(schedule: Schedule, block: tir.BlockOp, width: int) -> tir.BlockOp | None:
    """Keep `width` partial results of a reduction along memory; return the block of those."""
    loop = _fused_reduction(schedule, block)
    if loop is None or loop.size < 2 * width or len(block.stores()) > 1:
        return None
    _, lanes = schedule.split(loop, width)
    # A reduction that is not associative keeps the order of its elements, one vector per step.
    return schedule.rfactor(lanes) if can_combine(block) else None


def _fused_reduction(schedule: Schedule, block: tir.BlockOp) -> tir.ForOp | None:
    """Return the loop over the reduce variables that are contiguous in memory, or None."""
    moves = list(strides(block).values())
    loops = tir.enclosing_loops(block)
    positions = [i for i, kind in enumerate(block.iter_kinds) if kind is tir.IterKind.Reduce]
    if not positions or not any(move[positions[-1]] == 1 for move in moves):
        return None
    reduce = [loop for loop in loops if tir.IterKind.Reduce in driven(block, loop.var)]
    loop = reduce[-1]
    for outer, position in reversed(list(zip(reduce[:-1], positions[:-1], strict=False))):
        extent = loop.size
        if any(move[position] != (move[positions[-1]] or 0) * extent for move in moves):
            break
        loop = schedule.fuse(outer, loop)
    return loop


ROWS = Rule(
    "rows",
    1,
    Needs(device="cpu", texels=False, reductions=True),
    (LOCAL_SIZE, WIDTH),
    WalkedRows.of,
    _domains,
    _default,
    _apply,
    objection=_objection,
)
"""The reads of each stage determine where it is computed, and so the grid."""
