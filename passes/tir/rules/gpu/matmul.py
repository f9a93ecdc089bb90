"""Large matrix products on a GPU: a work-group multiplies panels in local memory.

The blocking of Volkov and Demmel ("Benchmarking GPUs to Tune Dense Linear Algebra", 2008): the
group loads panels of both operands together, then each work-item multiplies its rows and columns of
them in registers. While it does, the next panels can be on their way, as in CUTLASS.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product as every_product
from math import prod
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType

from .....dialects import cl, tir
from ...schedule import Schedule
from ...schedule.analysis import memref_of
from ..naive_kernel import NaiveKernel, whole_contraction
from ..rule import Needs, Rule
from ..shared.contraction import Contraction, OperandLoad
from ..shared.grid import SHARED_GROUP, bind_axes, join_grid
from ..space import (
    Choice,
    Domains,
    NotApplicable,
    Params,
    Range,
    Space,
    has_point,
    number,
    numbers,
    word,
)
from .panel_copies import GroupTile, copy_panel

_GROUPS = ((16, 16), (8, 8), (4, 4), (16, 8), (8, 16), (32, 8), (8, 32))
_DEPTH = 16
_MOST_ROWS = 16
_WIDTHS = (1, 2, 4, 8)
_VECTORS = (1, 2, 4)
_LOADS = (1, 2, 4)
_MOST_LOADS = 32
"""Loads of a work-item that wait in registers for their place in local memory."""


PARAMETERS = (
    numbers("group", "work-items of a group along columns and rows"),
    number("rows", "rows of the product for a work-item"),
    number("cols", "columns of the product in a vector of a work-item"),
    number("vectors", "vectors of a work-item along the columns"),
    word(
        "spread",
        "where the vectors of a work-item lie: over the columns of the group, or side by side",
    ),
    number("depth", "steps of the sum that local memory holds at a time"),
    word(
        "panels",
        "how panels lie in local memory: as the sum walks through them, or as in the operands",
    ),
    number("load", "lanes of a load of a panel"),
    number(
        "prefetch",
        "copies of a panel while the next one is on its way; 0 loads it when it is needed",
    ),
)


@dataclass(frozen=True)
class MatrixProduct:
    """A product of two matrices by one sum."""

    contraction: Contraction

    @staticmethod
    def of(kernel: NaiveKernel) -> MatrixProduct | NotApplicable:
        """Return the product that a kernel is."""
        contraction = kernel.once(whole_contraction)
        if isinstance(contraction, NotApplicable):
            return contraction
        if not _is_product(contraction):
            return NotApplicable("it is not a product of two matrices with one sum")
        return MatrixProduct(contraction)

    def bytes_of(self, tile: GroupTile) -> int:
        """Return the local memory that one copy of the two panels takes."""
        return sum(
            count * cast(FixedBitwidthType, memref_of(load.op.memref).element_type).size
            for count, load in zip(tile.panels(), self.contraction.loads, strict=True)
        )

    def loads(self, tile: GroupTile) -> tuple[int, ...]:
        """Return the lanes that work-items can load of both panels at once."""
        return tuple(
            lanes
            for lanes in _LOADS
            if lanes == 1
            or all(
                size is not None and size % lanes == 0
                for size in (self._along(load, tile) for load in self.contraction.loads)
            )
        )

    def _along(self, load: OperandLoad, tile: GroupTile) -> int | None:
        """Return the size of a panel along the operand's memory."""
        variable = next((i for i, step in enumerate(load.steps) if step == 1), None)
        *_, row, col = range(len(self.contraction.extents))
        sizes = {row: tile.all_rows, col: tile.all_cols, col + 1: tile.depth}
        return None if variable is None else sizes.get(variable)

    def prefetches(self, tile: GroupTile, lanes: int, local_bytes: int) -> tuple[int, ...]:
        """Return the numbers of panels that can be under way; these are divided evenly."""
        even = all(
            count % (tile.items * lanes) == 0 and count <= tile.items * _MOST_LOADS
            for count in tile.panels()
        )
        steps = -(-self.contraction.depth // tile.depth)
        return tuple(
            copies
            for copies in (0, 1, 2, 3)
            if copies == 0
            or (even and steps > max(1, copies - 1) and copies * self.bytes_of(tile) <= local_bytes)
        )


def _is_product(contraction: Contraction) -> bool:
    rank = len(contraction.extents)
    if rank < 2 or len(contraction.stage.reduce) != 1 or len(contraction.loads) != 2:
        return False
    row, col = rank - 2, rank - 1
    a, b = contraction.loads
    if a.op.memref is b.op.memref:
        return False  # one buffer has one copy in local memory, and this rule wants two panels
    return a.steps[row] != 0 and a.steps[col] == 0 and b.steps[row] == 0 and b.steps[col] != 0


def _domains(product: MatrixProduct, target: cl.Target) -> Domains | NotApplicable:
    *_, row, col = product.contraction.extents
    local = target.device.local_memory_bytes
    depths = tuple(d for d in (4, 8, 16, 32) if 2 * d <= product.contraction.depth)
    groups = tuple(group for group in _GROUPS if prod(group) <= target.device.max_work_group_size)

    def rows(params: Params) -> Range:
        return Range(1, min(_MOST_ROWS, row // params.numbers("group")[1]))

    def cols(params: Params) -> Choice:
        return Choice(tuple(w for w in _WIDTHS if w * params.numbers("group")[0] <= col))

    def vectors(params: Params) -> Choice:
        one = params.number("cols") * params.numbers("group")[0]
        return Choice(tuple(n for n in _VECTORS if n * one <= col))

    def depth(params: Params) -> Choice:
        one = product.bytes_of(GroupTile.of(params, depth=1))
        return Choice(tuple(d for d in depths if d * one <= local))

    def prefetch(params: Params) -> Choice:
        return Choice(product.prefetches(GroupTile.of(params), params.number("load"), local))

    found: Domains = {
        "group": Choice(groups),
        "rows": rows,
        "cols": cols,
        "vectors": vectors,
        "spread": lambda params: Choice(
            ("group", "item") if params.number("vectors") > 1 else ("item",)
        ),
        "depth": depth,
        "panels": Choice(("walked", "plain")),
        "load": lambda params: Choice(product.loads(GroupTile.of(params))),
        "prefetch": prefetch,
    }
    if not has_point(found):
        return NotApplicable("it has fewer rows, columns or steps than the smallest group takes")
    return found


def _objection(space: Space[MatrixProduct]) -> str | None:
    if any(space.fault(params) is None for params in _preferred(space)):
        return None
    fault = space.fault(next(_preferred(space)))
    return f"it is not a large product: of the best tile, {fault}"


def _default(space: Space[MatrixProduct]) -> Params:
    preferred = (*_preferred(space), *_preferred(space, narrow=True))
    wanted = [params for params in preferred if space.fault(params) is None]
    if not wanted:
        return space.nearest(preferred[0])
    return min(wanted, key=lambda params: _cost(space, params))


def _preferred(space: Space[MatrixProduct], *, narrow: bool = False) -> Iterator[Params]:
    """Yield the tiles that suit the target, the largest first, whether the product is large or not.

    Narrow ones have one vector of a row, so that more work-items share a product of medium size.
    """
    product, target = space.structure, space.target
    cols = min(target.machine.register_tile, 4)
    copies = target.machine.prefetched_panels
    if not copies:
        side = next((x for x, y in _GROUPS if x * y <= target.device.max_work_group_size), 4)
        tiles = [((side, side), target.machine.register_tile, _DEPTH)]
    else:
        rows = [target.machine.register_tile, target.machine.register_tile // 2]
        tiles = every_product([(16, 16), (16, 8), (8, 8)], rows, [_DEPTH, _DEPTH // 2])
    vectors = max(1, target.machine.register_tile // 4) if copies and not narrow else 1
    for group, count, depth in tiles:
        tile = GroupTile(group, count, cols, vectors, depth)
        lanes = max(product.loads(tile)) if copies else 1
        possible = product.prefetches(tile, lanes, target.device.local_memory_bytes)
        yield Params(
            {
                "group": group,
                "rows": count,
                "cols": cols,
                "vectors": tile.vectors,
                "spread": "group" if tile.vectors > 1 else "item",
                "depth": depth,
                "panels": "walked" if copies else "plain",
                "load": lanes,
                "prefetch": max(c for c in possible if c <= copies),
            }
        )


def _cost(space: Space[MatrixProduct], params: Params) -> float:
    """Return the multiply-adds of a compute unit's share of the groups, with what these read.

    A unit with few work-items waits for their loads.
    """
    contraction, target, tile = space.structure.contraction, space.target, GroupTile.of(params)
    *batch, row, col = contraction.extents
    groups = prod(batch) * -(-row // tile.all_rows) * -(-col // tile.all_cols)
    # From local memory each work-item reads rows and columns, from global memory the group does.
    read = tile.items * (tile.rows + tile.cols) + tile.all_rows + tile.all_cols
    step = tile.all_rows * tile.all_cols + target.machine.access_cost * read / 4
    share = -(-groups // target.device.compute_units)
    busy = min(1.0, share * tile.items / SHARED_GROUP)
    return share * step * contraction.depth / busy


def _apply(schedule: Schedule, product: MatrixProduct, params: Params) -> None:
    contraction = product.contraction
    tile, spread = GroupTile.of(params), params.word("spread") == "group"
    row, col = len(contraction.extents) - 2, len(contraction.extents) - 1
    loops = contraction.output.loops
    batch = loops[:row]
    row_groups, out_row = schedule.split(loops[row], tile.all_rows, overlap=True)
    col_groups, out_col = schedule.split(loops[col], tile.all_cols, overlap=True)
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
    steps, step = schedule.split(inner[-1], tile.depth)
    items = _distribute(schedule, inner[row], inner[col], tile, spread)
    schedule.reorder(*inner[:row], steps, *items[:2], step, *items[2:])
    copies = [
        copy_panel(schedule, contraction, load, steps, tile, params) for load in contraction.loads
    ]
    out = _distribute(schedule, out_row, out_col, tile, spread)
    schedule.reorder(*out)
    bind_axes(schedule, grid, (tir.LoopKind.GroupX, tir.LoopKind.GroupY, tir.LoopKind.GroupZ))
    for nest in (items, out):
        _bind_items(schedule, nest)
    schedule.keep_private(block)
    if params.number("prefetch"):
        for copy in copies:
            schedule.prefetch(copy, steps, params.number("prefetch"))
    join_grid(schedule, contraction.borders, contraction.output)


def _distribute(
    schedule: Schedule, row: tir.ForOp, col: tir.ForOp, tile: GroupTile, spread: bool
) -> list[tir.ForOp]:
    """Return the loops over items along rows and columns, then rows, vectors and lanes of one."""
    item_rows, rows = schedule.split(row, tile.rows)
    if tile.vectors == 1:
        item_cols, cols = schedule.split(col, tile.width)
        return [item_rows, item_cols, rows, cols]
    if spread:
        vectors, item_cols, cols = schedule.split_many(col, (tile.group[0], tile.width))
    else:
        item_cols, vectors, cols = schedule.split_many(col, (tile.vectors, tile.width))
    return [item_rows, item_cols, rows, vectors, cols]


def _bind_items(schedule: Schedule, nest: list[tir.ForOp]) -> None:
    item_rows, item_cols, *unrolled, lanes = nest
    schedule.bind(item_rows, tir.LoopKind.LocalY)
    schedule.bind(item_cols, tir.LoopKind.LocalX)
    for loop in unrolled:
        schedule.unroll(loop)
    if lanes.size > 1:
        schedule.vectorize(lanes)


GPU_MATMUL = Rule(
    "gpu-matmul",
    2,
    Needs(device="gpu", texels=False, reductions=True),
    PARAMETERS,
    MatrixProduct.of,
    _domains,
    _default,
    _apply,
    _objection,
)
"""The product determines the variables of rows and columns, and the group the copies."""
