"""Large matrix products on a GPU: a work-group multiplies panels in local memory.

The blocking of Volkov and Demmel ("Benchmarking GPUs to Tune Dense Linear Algebra", 2008): the
group loads panels of both operands together, then each work-item multiplies its rows and columns of
them in registers. While it does, the next panels can be on their way, as in CUTLASS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType

from ....dialects import cl, tir
from ..schedule import Schedule
from ..schedule.analysis import memref_of
from .contraction import NO_CONTRACTION, Contraction, Load
from .grid import bind_axes, join_grid
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Parameter, Params, Range, Space

_GROUPS = ((16, 16), (8, 8), (4, 4), (16, 8), (8, 16), (32, 8), (8, 32))
_DEPTH = 16
_MOST_ROWS = 16
_WIDTHS = (1, 2, 4, 8)
_VECTORS = (1, 2, 4)
_LOADS = (1, 2, 4)
_MOST_LOADS = 32
"""Loads of a work-item that wait in registers for their place in local memory."""


@dataclass(frozen=True)
class _Tile:
    """What a group and its work-items compute, and how many steps of the sum at a time."""

    group: tuple[int, int]
    rows: int
    width: int
    vectors: int
    depth: int

    @staticmethod
    def of(params: Params, depth: int | None = None) -> _Tile:
        x, y = params.numbers("group")
        rows, width, vectors = (params.number(name) for name in ("rows", "cols", "vectors"))
        depth = params.number("depth") if depth is None else depth
        return _Tile((x, y), rows, width, vectors, depth)

    @property
    def items(self) -> int:
        return prod(self.group)

    @property
    def cols(self) -> int:
        """Columns of a work-item."""
        return self.width * self.vectors

    @property
    def all_rows(self) -> int:
        """Rows of a group."""
        return self.group[1] * self.rows

    @property
    def all_cols(self) -> int:
        """Columns of a group."""
        return self.group[0] * self.cols

    def panels(self) -> tuple[int, int]:
        """Elements of the two panels."""
        return self.all_rows * self.depth, self.all_cols * self.depth


@dataclass(frozen=True)
class _Facts:
    contraction: Contraction
    target: cl.Target

    def bytes_of(self, tile: _Tile) -> int:
        """Local memory that one copy of the two panels takes."""
        return sum(
            count * cast(FixedBitwidthType, memref_of(load.op.memref).element_type).size
            for count, load in zip(tile.panels(), self.contraction.loads, strict=True)
        )

    def loads(self, tile: _Tile) -> tuple[int, ...]:
        """Lanes of the loads that work-items can make of both panels."""
        return tuple(
            lanes
            for lanes in _LOADS
            if lanes == 1
            or all(
                size is not None and size % lanes == 0
                for size in (self._along(load, tile) for load in self.contraction.loads)
            )
        )

    def _along(self, load: Load, tile: _Tile) -> int | None:
        """The size of a panel along the operand's memory."""
        variable = self.variable_along(load)
        *_, row, col = range(len(self.contraction.extents))
        sizes = {row: tile.all_rows, col: tile.all_cols, col + 1: tile.depth}
        return None if variable is None else sizes.get(variable)

    def variable_along(self, load: Load) -> int | None:
        """The variable along an operand's memory."""
        return next((i for i, step in enumerate(load.steps) if step == 1), None)

    def prefetches(self, tile: _Tile, lanes: int) -> tuple[int, ...]:
        """Numbers of panels that can be on their way; panels are then divided evenly."""
        even = all(
            count % (tile.items * lanes) == 0 and count <= tile.items * _MOST_LOADS
            for count in tile.panels()
        )
        steps = -(-self.contraction.depth // tile.depth)
        return tuple(
            copies
            for copies in (0, 1, 2, 3)
            if copies == 0
            or (
                even
                and steps > max(1, copies - 1)
                and copies * self.bytes_of(tile) <= self.target.local_memory_bytes
            )
        )


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
    if any(space.fault(params) is None for params in _preferred(space)):
        return None
    fault = space.fault(next(_preferred(space)))
    return f"it is no large product: of the best tile, {fault}"


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

    def rows(params: Params) -> Range:
        return Range(1, min(_MOST_ROWS, row // params.numbers("group")[1]))

    def cols(params: Params) -> Choice:
        return Choice(tuple(w for w in _WIDTHS if w * params.numbers("group")[0] <= col))

    def vectors(params: Params) -> Choice:
        one = params.number("cols") * params.numbers("group")[0]
        return Choice(tuple(n for n in _VECTORS if n * one <= col))

    def depth(params: Params) -> Choice:
        local = facts.target.local_memory_bytes
        one = facts.bytes_of(_Tile.of(params, depth=1))
        return Choice(tuple(d for d in depths if d * one <= local))

    def load(params: Params) -> Choice:
        return Choice(facts.loads(_Tile.of(params)))

    def prefetch(params: Params) -> Choice:
        return Choice(facts.prefetches(_Tile.of(params), params.number("load")))

    groups = tuple(group for group in _GROUPS if prod(group) <= most)
    return (
        Parameter("group", "work-items of a group along columns and rows", Choice(groups)),
        Parameter("rows", "rows of the product for a work-item", rows),
        Parameter("cols", "columns of the product in a vector of a work-item", cols),
        Parameter("vectors", "vectors of a work-item along the columns", vectors),
        Parameter(
            "spread",
            "where the vectors of a work-item lie: over the columns of the group, or side by side",
            lambda params: Choice(("group", "item") if params.number("vectors") > 1 else ("item",)),
        ),
        Parameter("depth", "steps of the sum that local memory holds at a time", depth),
        Parameter(
            "panels",
            "how panels lie in local memory: as the sum walks through them, or as in the operands",
            Choice(("walked", "plain")),
        ),
        Parameter("load", "lanes of a load of a panel", load),
        Parameter(
            "prefetch",
            "copies of a panel while the next one is on its way; 0 loads it when it is needed",
            prefetch,
        ),
    )


def _default(space: Space[_Facts]) -> Params:
    preferred = (*_preferred(space), *_preferred(space, narrow=True))
    wanted = [params for params in preferred if space.fault(params) is None]
    if not wanted:
        return space.nearest(preferred[0])
    return min(wanted, key=lambda params: _cost(space, params))


def _preferred(space: Space[_Facts], *, narrow: bool = False) -> Iterator[Params]:
    """The tiles that suit the target, the largest first, whether the product is large or not.

    Narrow ones have one vector of a row, so that more work-items share a product of medium size.
    """
    target = space.facts.target
    cols = min(target.register_cols, 4)
    copies = target.prefetched_panels
    if not copies:
        side = next((x for x, y in _GROUPS if x * y <= target.max_work_group_size), 4)
        tiles = [((side, side), target.register_rows, _DEPTH)]
    else:
        rows = [target.register_rows, target.register_rows // 2]
        tiles = product([(16, 16), (16, 8), (8, 8)], rows, [_DEPTH, _DEPTH // 2])
    vectors = max(1, target.register_cols // 4) if copies and not narrow else 1
    for group, count, depth in tiles:
        tile = _Tile(group, count, cols, vectors, depth)
        lanes = max(space.facts.loads(tile)) if copies else 1
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
                "prefetch": max(c for c in space.facts.prefetches(tile, lanes) if c <= copies),
            }
        )


def _cost(space: Space[_Facts], params: Params) -> float:
    """Multiply-adds of a compute unit: of its share of the groups, with what they read.

    A unit with few work-items waits for their loads.
    """
    facts, tile = space.facts, _Tile.of(params)
    *batch, row, col = facts.contraction.extents
    groups = prod(batch) * -(-row // tile.all_rows) * -(-col // tile.all_cols)
    # From local memory each work-item reads rows and columns, from global memory the group does.
    read = tile.items * (tile.rows + tile.cols) + tile.all_rows + tile.all_cols
    step = tile.all_rows * tile.all_cols + facts.target.access_cost * read / 4
    share = -(-groups // facts.target.compute_units)
    busy = min(1.0, share * tile.items / facts.target.shared_work_group)
    return share * step * facts.contraction.depth / busy


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    contraction = kernel.contraction
    assert contraction is not None, "the rule fits"
    tile, spread = _Tile.of(params), params.word("spread") == "group"
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
        _copy_panel(schedule, contraction, load, steps, tile, params) for load in contraction.loads
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
    join_grid(schedule, kernel.borders, contraction.output)


def _distribute(
    schedule: Schedule, row: tir.ForOp, col: tir.ForOp, tile: _Tile, spread: bool
) -> list[tir.ForOp]:
    """Items along rows and columns; the rows, the vectors and the lanes of one item."""
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


def _copy_panel(
    schedule: Schedule,
    contraction: Contraction,
    load: Load,
    steps: tir.ForOp,
    tile: _Tile,
    params: Params,
) -> tir.BlockOp:
    """All work-items of the group copy a panel, neighbours neighbouring elements."""
    block, buffer = contraction.stage.block, load.op.memref
    if params.word("panels") == "plain":
        copy = schedule.cache_read(block, buffer, tir.Scope.Local)
        loops = schedule.compute_at(copy, steps)
        along = loops[-1]
    else:
        spatial = len(contraction.extents)
        used = [i for i, step in enumerate(load.steps) if step != 0]
        order = [
            *(i for i in used if i < spatial - 2),
            spatial,
            *(i for i in used if i in (spatial - 2, spatial - 1)),
        ]
        copy = schedule.cache_gather(block, buffer, tir.Scope.Local, order)
        loops = schedule.compute_at(copy, steps)
        along = max(loops, key=lambda loop: load.steps[order[loops.index(loop)]] == 1)
    rest = [loop for loop in loops if loop is not along]
    lanes: tir.ForOp | None = None
    if params.number("load") > 1:
        along, lanes = schedule.split(along, params.number("load"))
    schedule.reorder(*rest, along, *([lanes] if lanes else []))
    _share(schedule, [*rest, along], lanes, tile, ahead=params.number("prefetch") > 0)
    return copy


def _share(
    schedule: Schedule,
    loops: Sequence[tir.ForOp],
    lanes: tir.ForOp | None,
    tile: _Tile,
    ahead: bool,
) -> None:
    """Divide the points of a copy among the work-items of a group."""
    x, y = tile.group
    copied = schedule.fuse(*loops, name="copy")
    others, item_cols = schedule.split(copied, x, ("rest", "item_x"))
    chunks, item_rows = schedule.split(others, y, ("copy", "item_y"))
    if ahead:
        schedule.reorder(item_rows, item_cols, chunks)
    schedule.bind(item_rows, tir.LoopKind.LocalY)
    schedule.bind(item_cols, tir.LoopKind.LocalX)
    if ahead:
        schedule.unroll(chunks)
    if lanes is not None:
        schedule.vectorize(lanes)


GPU_MATMUL = Rule(
    "gpu-matmul",
    2,
    Kernels(device="gpu", texels=False, reductions=True),
    _fit,
    _default,
    _apply,
    _cost,
    _objection,
)
"""Which variables are rows and columns follows from the product, the copies from the group."""
