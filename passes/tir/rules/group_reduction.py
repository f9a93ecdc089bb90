"""Reductions on a GPU whose rows are too few or too long for one work-item each.

The work-items of a group share the rows of that group: each folds a strided part of a row in its
registers, then a tree in local memory combines the parts, and all of them write the output (Harris,
"Optimizing Parallel Reduction in CUDA", 2007). The stages of a softmax or a norm follow each other
in one kernel, and their results stay in registers.

Neighbouring work-items read neighbouring elements: of one row where the reduction runs along
memory, else of neighbouring rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import memref

from ....dialects import cl, tir
from .. import schedule
from ..schedule.analysis import driven, temporary, written
from ..schedule.combine import Update
from .elementwise import bind_axes
from .row_structure import Rows, rows_of
from .stages import Stage, keep_private, strides

_GROUP = 128
"""Work-items of a group that GPUs of two waves and more want at least."""
_MOST = 256
"""Work-items of a group at the most: what the registers of a long kernel still leave."""
_ITEMS_PER_UNIT = 1024
"""Work-items for each compute unit that together keep memory busy."""
_LANES = 16
"""Work-items that read a cache line of 64 bytes together."""
_COLUMNS = 32
"""Rows that a group takes where neighbouring work-items take neighbouring rows."""
_FAN_IN = 4
"""Partial results that a work-item combines between two barriers."""


@dataclass(frozen=True)
class Plan:
    """How the rows of a kernel are shared by the work-items of its groups."""

    rows: Rows
    lanes: int
    """Work-items for a row."""
    along: int | None
    """The variable of the output in which the rows of a group differ."""
    members: int
    """How many rows a group takes."""
    columns: bool
    """Whether neighbouring work-items take neighbouring rows, and not parts of one."""


def plan_groups(stages: Sequence[Stage], output: Stage, target: cl.Target) -> Plan | None:
    """A plan for a kernel of reductions; None where one work-item for each result does as well."""
    rows = rows_of(stages, output)
    if rows is None or rows.count == 0 or not any(stage.reduce for stage in stages):
        return None
    if not all(_can_share(stage, rows) for stage in stages):
        return None
    stage = min((stage for stage in stages if stage.reduce), key=_length)
    length = _length(stage)
    column = _column(stage, rows)
    most = min(_MOST, target.max_work_group_size)
    if column is not None:
        return _plan_columns(rows, column, length, target, most)
    lanes = _lanes(rows.count, length, target, _LANES if length >= 4 * _LANES else 1, most)
    if lanes < _FAN_IN:
        return None
    along = max(rows.divisors, key=rows.extent, default=None)
    members = 1 if along is None else _even(rows.extent(along), max(1, _GROUP // lanes))
    return Plan(rows, lanes, along, members, columns=False)


def _plan_columns(
    rows: Rows, column: int, length: int, target: cl.Target, most: int
) -> Plan | None:
    members = _COLUMNS
    while members > 8 and rows.count < members * target.compute_units:
        members //= 2
    members = _even(rows.extent(column), members)
    lanes = _lanes(rows.count, length, target, 1, most // members)
    if lanes < _FAN_IN:
        return None
    if members * lanes < _GROUP:
        members = _even(rows.extent(column), _GROUP // lanes)
    return Plan(rows, lanes, column, members, columns=True)


def _lanes(rows: int, length: int, target: cl.Target, least: int, most: int) -> int:
    """Work-items for a row, a power of two: enough for the device, two elements for each."""
    wanted = max(target.compute_units * _ITEMS_PER_UNIT // rows, least)
    limit = min(wanted, length // 2, most)
    return 1 << max(limit.bit_length() - 1, 0)


def _even(extent: int, size: int) -> int:
    """The size of the equal chunks, of up to `size` each, that an extent takes."""
    chunks = -(-extent // size)
    return -(-extent // chunks)


def _length(stage: Stage) -> int:
    return prod(stage.block.iter_extents[i] for i in stage.reduce)


def _can_share(stage: Stage, rows: Rows) -> bool:
    """Whether partial results can be combined, and no tile of results would share loads.

    A load that moves with every row and every step of the reduction reads each element once (or, in
    a window, close to the others that do): there is nothing for a tile to keep.
    """
    if not stage.reduce:
        return True
    try:
        Update.of(stage.block)
    except schedule.ScheduleError:
        return False
    mine = set(rows.of[stage.block].values())
    if any(rows.extent(variable) > 1 for variable in rows.divisors if variable not in mine):
        return False
    stored = written(stage.block)
    extents = stage.block.iter_extents
    return any(
        all(extents[i] == 1 or step != 0 for i, step in enumerate(steps))
        for op, steps in strides(stage.block).items()
        if op.memref not in stored
    )


def _column(stage: Stage, rows: Rows) -> int | None:
    """The variable of the output whose neighbours are neighbours in memory; None for none."""
    extents = stage.block.iter_extents
    stored = written(stage.block)
    for op, steps in strides(stage.block).items():
        if op.memref in stored or any(extents[i] > 1 and step == 0 for i, step in enumerate(steps)):
            continue
        for position, variable in rows.of[stage.block].items():
            if steps[position] == 1:
                return variable
    return None


def schedule_groups(stages: Sequence[Stage], output: Stage, plan: Plan) -> None:
    """Let groups of work-items compute the rows together."""
    shared = [_share(stage.block, plan) for stage in stages]
    place, member, inner = _arrange(output, plan)
    for parts in reversed(shared):
        parts.place(place)
    grid = [] if place is None else _grid(place)
    bind_axes(grid, (tir.LoopKind.GroupX, tir.LoopKind.GroupY, tir.LoopKind.GroupZ))
    axes = (tir.LoopKind.LocalX, tir.LoopKind.LocalY)
    of_lanes, of_members = axes[::-1] if plan.columns else axes
    for parts in shared:
        parts.bind(of_lanes, of_members)
    if member is not None:
        schedule.bind(member, of_members)
    if inner is not None:
        schedule.bind(inner, of_lanes)


def _arrange(
    output: Stage, plan: Plan
) -> tuple[tir.ForOp | None, tir.ForOp | None, tir.ForOp | None]:
    """The output's loops over groups (the innermost), over a group's rows, and over a row."""
    moves = list(strides(output.block).values())
    grid: list[tir.ForOp] = []
    inner: list[tuple[tir.ForOp, int]] = []
    rests: list[tir.ForOp] = []
    member: tir.ForOp | None = None
    for variable, loop in enumerate(output.loops):
        divisor = plan.rows.divisors.get(variable)
        if divisor is None:
            inner.append((loop, variable))
            continue
        if divisor > 1:
            loop, rest = schedule.split(loop, divisor)
            rests.append(rest)
        if variable == plan.along and plan.members > 1:
            loop, member = schedule.split(loop, plan.members, ("group", "row"), overlap=True)
        grid.append(loop)
    single = [loop for loop in (*grid, *(loop for loop, _ in inner)) if loop.size == 1]
    grid = [loop for loop in grid if loop.size > 1]
    inner = [(loop, variable) for loop, variable in inner if loop.size > 1]
    members = [] if member is None else [member]
    schedule.reorder(*single, *grid, *members, *rests, *(loop for loop, _ in inner))
    place = next(reversed([*single, *grid]), None)
    # A part of a channel is no part of another group, so it is not walked on from.
    item = _walk(inner, moves, plan.lanes) if inner else max(rests, key=_size, default=None)
    if item is not None and item.size > plan.lanes:
        _, item = schedule.split(item, plan.lanes, ("step", "item"))
    return place, member, item


def _size(loop: tir.ForOp) -> int:
    return loop.size


def _grid(place: tir.ForOp) -> list[tir.ForOp]:
    """The loops over groups, of which `place` is the innermost."""
    return [loop for loop in (*tir.enclosing_loops(place), place) if loop.size > 1]


@dataclass(frozen=True)
class _Parts:
    """The stages that a reduction has become."""

    folds: list[tuple[tir.BlockOp, tir.BlockOp]]
    """A block that combines in registers, and the one that puts its result into local memory."""
    last: tir.BlockOp
    """The block of which each work-item has the result."""

    def place(self, loop: tir.ForOp | None) -> None:
        """Compute them in the loop over groups."""
        keep_private(self.last)
        _compute_at(self.last, loop)
        for fold, write in reversed(self.folds):
            loops = _compute_at(write, loop)
            schedule.compute_at(fold, loops[-1])
            for buffer in written(write):
                alloca = temporary(buffer)
                assert isinstance(alloca, memref.AllocaOp)
                schedule.set_scope(alloca, tir.Scope.Local)

    def bind(self, lanes: tir.LoopKind, members: tir.LoopKind) -> None:
        """Distribute them over the work-items of a group."""
        for _, write in self.folds:
            *rows, lane = tir.enclosing_loops(write)
            _bind_rows(rows, members)
            schedule.bind(lane, lanes)
        spatial = [
            loop
            for loop in tir.enclosing_loops(self.last)
            if driven(self.last, loop.var) != {tir.IterKind.Reduce}
        ]
        _bind_rows(spatial, members)


def _compute_at(block: tir.BlockOp, loop: tir.ForOp | None) -> list[tir.ForOp]:
    return tir.enclosing_loops(block) if loop is None else schedule.compute_at(block, loop)


def _bind_rows(loops: Sequence[tir.ForOp], kind: tir.LoopKind) -> None:
    for loop in loops:
        if loop.size > 1 and not loop.kind.data.is_bound:
            schedule.bind(loop, kind)


def _share(block: tir.BlockOp, plan: Plan) -> _Parts:
    """Split a reduction into what the work-items of a row do and how that is combined.

    In local memory, neighbours are next to each other.
    """
    if not block.is_reduction:
        return _Parts([], block)
    _, lane = schedule.split(_shared_loop(block, plan.lanes), plan.lanes, ("step", "item"))
    *folds, last = schedule.rfactor_tree(lane, _FAN_IN, 0 if plan.columns else None)
    return _Parts([(fold, schedule.cache_write(fold, tir.Scope.Private)) for fold in folds], last)


def _shared_loop(block: tir.BlockOp, lanes: int) -> tir.ForOp:
    """The loop over reduce variables that the lanes share."""
    positions = [i for i, kind in enumerate(block.iter_kinds) if kind is tir.IterKind.Reduce]
    loops = tir.enclosing_loops(block)
    reduce = [loop for loop in loops if tir.IterKind.Reduce in driven(block, loop.var)]
    nest = list(zip(reduce, positions, strict=True))
    return _walk(nest, list(strides(block).values()), lanes)


def _walk(
    nest: Sequence[tuple[tir.ForOp, int]], moves: Sequence[Sequence[int | None]], lanes: int
) -> tir.ForOp:
    """The innermost loop of a nest, given with the variables of the loops, for lanes to share.

    Loops that memory walks as one are one loop. Others, whose indices cost a division, are only
    where it is shorter than the lanes or a quarter of them would often have nothing to do.
    """
    loop, last = nest[-1]
    for outer, position in reversed(nest[:-1]):
        together = all(move[position] == (move[last] or 0) * loop.size for move in moves)
        busy = 4 * loop.size >= 3 * lanes * -(-loop.size // lanes)
        if outer.size > 1 and not together and loop.size >= lanes and busy:
            break
        loop = schedule.fuse(outer, loop)
    return loop
