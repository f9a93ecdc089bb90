"""Reductions on a GPU: a small register tile for each work-item, local memory for matmul."""

from __future__ import annotations

from math import prod

from ....dialects import cl, tir
from ..schedule import Schedule
from .elementwise import bind_axes, bind_gpu
from .register_tile import Problem, Tile, pack_constants, tile_reduction

_ITEMS_PER_UNIT = 256
"""Work-items that a compute unit needs to hide its latencies; smaller tiles until there are."""
_GROUP = 16
"""A work-group of the matmul rule is 16 x 16 work-items."""
_DEPTH = 16
"""Steps of the reduction that local memory holds at a time."""


def gpu_tile(problem: Problem) -> Tile | None:
    """Columns along the output's memory, rows along what the columns do not depend on."""
    col = next((i for i, step in enumerate(problem.store_steps) if step == 1), None)
    if col is None or problem.extents[col] == 1:
        return None
    others = [i for i in range(len(problem.extents)) if i != col and problem.extents[i] > 1]
    shared = [i for i in others if any(load.steps[i] == 0 for load in problem.loads)]
    row = max(shared or others, key=lambda i: problem.extents[i], default=None)
    if row is None:
        return None
    target = problem.target
    width = min(target.register_cols, 4)
    rows = target.register_rows
    while width > problem.extents[col]:
        width //= 2
    while rows > problem.extents[row]:
        rows //= 2
    wanted = target.compute_units * _ITEMS_PER_UNIT
    while rows * width > 1 and prod(problem.extents) // (rows * width) < wanted:
        if rows >= width:
            rows //= 2
        else:
            width //= 2
    return Tile(row, rows, col, 1, width)


def apply_gpu_tile(schedule: Schedule, problem: Problem, tile: Tile) -> None:
    """One tile for each work-item; neighbours compute neighbouring columns."""
    pack_constants(schedule, problem, tile)
    loops = problem.output.loops
    tiles, row = schedule.split(loops[tile.row], tile.rows, overlap=True)
    cols, lanes = schedule.split(loops[tile.col], tile.width, overlap=True)
    places = {tile.row: tiles, tile.col: cols}
    rest = [i for i in range(len(loops)) if i != tile.col]
    grid = [places.get(i, loops[i]) for i in [*rest, tile.col]]
    schedule.reorder(*grid, row, lanes)
    local = bind_gpu(schedule, [schedule.fuse(*grid, name="tile")], problem.target)
    tile_reduction(schedule, problem, tile, schedule.compute_at(problem.stage.block, local))
    schedule.unroll(row)
    if tile.width > 1:
        schedule.vectorize(lanes)
    schedule.keep_private(problem.stage.block)


def matmul_operands(problem: Problem) -> tuple[int, int] | None:
    """The row and column variables where the reduction is a plain, large matrix product."""
    rank = len(problem.extents)
    reduce = problem.stage.reduce
    if rank < 2 or len(reduce) != 1 or len(problem.loads) != 2:
        return None
    row, col = rank - 2, rank - 1
    a, b = problem.loads
    if a.op.memref is b.op.memref:
        return None  # one buffer has one copy in local memory, and this rule wants two panels
    if a.steps[row] == 0 or a.steps[col] != 0 or b.steps[row] != 0 or b.steps[col] == 0:
        return None
    rows, cols = _block_of(problem.target)
    large = problem.extents[row] >= rows and problem.extents[col] >= cols
    return (row, col) if large and problem.depth >= 2 * _DEPTH else None


def _block_of(target: cl.Target) -> tuple[int, int]:
    return _GROUP * target.register_rows, _GROUP * min(target.register_cols, 4)


def apply_matmul(schedule: Schedule, problem: Problem, row: int, col: int) -> None:
    """A work-group computes a block of the product from panels in local memory.

    The blocking of Volkov and Demmel ("Benchmarking GPUs to Tune Dense Linear Algebra", 2008): the
    group loads panels of both operands together, then each work-item multiplies its rows and
    columns of them in registers.
    """
    rows, cols = _block_of(problem.target)
    loops = problem.output.loops
    batch = loops[:row]
    row_groups, out_row = schedule.split(loops[row], rows, overlap=True)
    col_groups, out_col = schedule.split(loops[col], cols, overlap=True)
    schedule.reorder(*batch, row_groups, col_groups, out_row, out_col)
    grid = [loop for loop in (*batch, row_groups, col_groups) if loop.size > 1]
    single = [loop for loop in (*batch, row_groups, col_groups) if loop.size == 1]
    schedule.reorder(*single, *grid)
    place = (single + grid)[-1]
    if len(grid) > 3:
        grid = [schedule.fuse(*grid[:-2]), *grid[-2:]]
    if grid:
        place = grid[-1]
    block = problem.stage.block
    inner = schedule.compute_at(block, place)
    steps, step = schedule.split(inner[-1], _DEPTH)
    panel_row, panel_col = inner[row], inner[col]
    items = _distribute(schedule, panel_row, panel_col, problem.target)
    schedule.reorder(*inner[:row], steps, items[0], items[1], step, items[2], items[3])
    for load in problem.loads:
        copy = schedule.cache_read(block, load.op.memref, tir.Scope.Local)
        _copy_together(schedule, schedule.compute_at(copy, steps))
    out = _distribute(schedule, out_row, out_col, problem.target)
    schedule.reorder(out[0], out[1], out[2], out[3])
    bind_axes(schedule, grid, (tir.LoopKind.GroupX, tir.LoopKind.GroupY, tir.LoopKind.GroupZ))
    for nest in (items, out):
        _bind_items(schedule, nest)
    schedule.keep_private(problem.stage.block)


def _distribute(
    schedule: Schedule, row: tir.ForOp, col: tir.ForOp, target: cl.Target
) -> list[tir.ForOp]:
    """Items along rows, items along columns, the rows and the columns of one item."""
    item_rows, rows = schedule.split(row, target.register_rows)
    item_cols, cols = schedule.split(col, min(target.register_cols, 4))
    return [item_rows, item_cols, rows, cols]


def _bind_items(schedule: Schedule, nest: list[tir.ForOp]) -> None:
    schedule.bind(nest[0], tir.LoopKind.LocalY)
    schedule.bind(nest[1], tir.LoopKind.LocalX)
    schedule.unroll(nest[2])
    if nest[3].size > 1:
        schedule.vectorize(nest[3])


def _copy_together(schedule: Schedule, loops: list[tir.ForOp]) -> None:
    """All work-items of the group copy a panel, neighbours neighbouring elements."""
    rest, item_cols = schedule.split(schedule.fuse(*loops, name="copy"), _GROUP, ("rest", "item_x"))
    _, item_rows = schedule.split(rest, _GROUP, ("copy", "item_y"))
    schedule.bind(item_rows, tir.LoopKind.LocalY)
    schedule.bind(item_cols, tir.LoopKind.LocalX)
