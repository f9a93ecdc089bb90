"""Large matrix products on a GPU: a work-group multiplies panels in local memory.

The blocking of Volkov and Demmel ("Benchmarking GPUs to Tune Dense Linear Algebra", 2008): the
group loads panels of both operands together, then each work-item multiplies its rows and columns of
them in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType

from ....dialects import cl, tir
from ..schedule import Schedule
from ..schedule.analysis import memref_of
from .contraction import NO_CONTRACTION, Contraction
from .grid import bind_axes, join_grid
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Parameter, Params, Range, Space

_GROUPS = (16, 8, 4)
"""Sides of a square work-group, the best first."""
_DEPTH = 16
_MOST_ROWS = 16
_WIDTHS = (1, 2, 4, 8)


@dataclass(frozen=True)
class _Facts:
    contraction: Contraction
    target: cl.Target

    def bytes_of(self, params: Params, depth: int) -> int:
        """Local memory that the two panels take."""
        rows, cols = (params.number(name) for name in ("rows", "cols"))
        types = (memref_of(load.op.memref).element_type for load in self.contraction.loads)
        of_rows, of_cols = (cast(FixedBitwidthType, type_).size for type_ in types)
        return params.number("group") * depth * (rows * of_rows + cols * of_cols)


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts] | Misfit:
    contraction = kernel.contraction
    if contraction is None:
        return Misfit(NO_CONTRACTION)
    if not _is_product(contraction):
        return Misfit("it is no product of two matrices by one sum")
    facts = _Facts(contraction, target)
    space = Space(_parameters(facts), facts)
    if space.is_empty:
        return Misfit("it has fewer rows, columns or steps than the smallest group takes")
    return space


def _objection(space: Space[_Facts]) -> str | None:
    fault = space.fault(_preferred(space))
    return None if fault is None else f"it is no large product: of the best tile, {fault}"


def _is_product(contraction: Contraction) -> bool:
    rank = len(contraction.extents)
    if rank < 2 or len(contraction.stage.reduce) != 1 or len(contraction.loads) != 2:
        return False
    row, col = rank - 2, rank - 1
    a, b = contraction.loads
    if a.op.memref is b.op.memref:
        return False  # one buffer has one copy in local memory, and this rule wants two panels
    return a.steps[row] != 0 and a.steps[col] == 0 and b.steps[row] == 0 and b.steps[col] != 0


def _parameters(facts: _Facts) -> Sequence[Parameter]:
    *_, row, col = facts.contraction.extents
    most = facts.target.max_work_group_size
    depths = tuple(d for d in (4, 8, 16, 32) if 2 * d <= facts.contraction.depth)

    def depth(params: Params) -> Choice:
        local = facts.target.local_memory_bytes
        return Choice(tuple(d for d in depths if facts.bytes_of(params, d) <= local))

    def rows(params: Params) -> Range:
        return Range(1, min(_MOST_ROWS, row // params.number("group")))

    def cols(params: Params) -> Choice:
        return Choice(tuple(w for w in _WIDTHS if w * params.number("group") <= col))

    groups = tuple(side for side in _GROUPS if side * side <= most)
    return (
        Parameter("group", "work-items along each side of a group", Choice(groups)),
        Parameter("rows", "rows of the product for a work-item", rows),
        Parameter("cols", "columns of the product for a work-item", cols),
        Parameter("depth", "steps of the sum that local memory holds at a time", depth),
    )


def _default(space: Space[_Facts]) -> Params:
    return space.nearest(_preferred(space))


def _preferred(space: Space[_Facts]) -> Params:
    """The tile that suits the target, whether the product is large enough for it or not."""
    target = space.facts.target
    group = next((s for s in _GROUPS if s * s <= target.max_work_group_size), _GROUPS[-1])
    cols = min(target.register_cols, 4)
    return Params({"group": group, "rows": target.register_rows, "cols": cols, "depth": _DEPTH})


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    contraction = kernel.contraction
    assert contraction is not None, "the rule fits"
    row, col = len(contraction.extents) - 2, len(contraction.extents) - 1
    group = params.number("group")
    loops = contraction.output.loops
    batch = loops[:row]
    row_groups, out_row = schedule.split(loops[row], group * params.number("rows"), overlap=True)
    col_groups, out_col = schedule.split(loops[col], group * params.number("cols"), overlap=True)
    schedule.reorder(*batch, row_groups, col_groups, out_row, out_col)
    grid = [loop for loop in (*batch, row_groups, col_groups) if loop.size > 1]
    single = [loop for loop in (*batch, row_groups, col_groups) if loop.size == 1]
    schedule.reorder(*single, *grid)
    place = (single + grid)[-1]
    if len(grid) > 3:
        grid = [schedule.fuse(*grid[:-2]), *grid[-2:]]
    if grid:
        place = grid[-1]
    block = contraction.stage.block
    inner = schedule.compute_at(block, place)
    steps, step = schedule.split(inner[-1], params.number("depth"))
    items = _distribute(schedule, inner[row], inner[col], params)
    schedule.reorder(*inner[:row], steps, items[0], items[1], step, items[2], items[3])
    for load in contraction.loads:
        copy = schedule.cache_read(block, load.op.memref, tir.Scope.Local)
        _copy_together(schedule, schedule.compute_at(copy, steps), group)
    out = _distribute(schedule, out_row, out_col, params)
    schedule.reorder(out[0], out[1], out[2], out[3])
    bind_axes(schedule, grid, (tir.LoopKind.GroupX, tir.LoopKind.GroupY, tir.LoopKind.GroupZ))
    for nest in (items, out):
        _bind_items(schedule, nest)
    schedule.keep_private(block)
    join_grid(schedule, kernel.borders, contraction.output)


def _distribute(
    schedule: Schedule, row: tir.ForOp, col: tir.ForOp, params: Params
) -> list[tir.ForOp]:
    """Items along rows, items along columns, the rows and the columns of one item."""
    item_rows, rows = schedule.split(row, params.number("rows"))
    item_cols, cols = schedule.split(col, params.number("cols"))
    return [item_rows, item_cols, rows, cols]


def _bind_items(schedule: Schedule, nest: list[tir.ForOp]) -> None:
    schedule.bind(nest[0], tir.LoopKind.LocalY)
    schedule.bind(nest[1], tir.LoopKind.LocalX)
    schedule.unroll(nest[2])
    if nest[3].size > 1:
        schedule.vectorize(nest[3])


def _copy_together(schedule: Schedule, loops: list[tir.ForOp], group: int) -> None:
    """All work-items of the group copy a panel, neighbours neighbouring elements."""
    copied = schedule.fuse(*loops, name="copy")
    rest, item_cols = schedule.split(copied, group, ("rest", "item_x"))
    _, item_rows = schedule.split(rest, group, ("copy", "item_y"))
    schedule.bind(item_rows, tir.LoopKind.LocalY)
    schedule.bind(item_cols, tir.LoopKind.LocalX)


GPU_MATMUL = Rule(
    "gpu-matmul",
    1,
    Kernels(device="gpu", texels=False, reductions=True),
    _fit,
    _default,
    _apply,
    objection=_objection,
)
"""Which variables are rows and columns follows from the product, the copies from the group."""
