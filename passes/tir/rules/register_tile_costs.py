"""The tiles of `register-tile`, and what they cost.

A simple model of the loads, the multiply-adds and the stores of a tile gives its cycles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, gcd, prod

from ....dialects import cl
from .contraction import Contraction, Load, element_bytes, is_packed
from .panels import PANEL, copy_cycles, is_far, panel_domain, panel_load
from .partial_sums import PARTS
from .space import Params
from .stages import lane_step

_OTHER_REGISTERS = 4
"""Vector registers that hold operands while the others accumulate."""
_LINE = 64
"""Bytes of a line of a CPU's cache."""
_PAGE = 4096
"""Bytes of memory whose lines have different places in the first cache: it has 64 sets."""


@dataclass(frozen=True)
class RegisterTile:
    """A register tile: `rows` of variable `row` by `vectors * width` of variable `col`."""

    row: int
    rows: int
    col: int
    vectors: int
    width: int
    parts: int = 1
    """Parts of each sum, which are computed in registers and added to sums in memory."""
    panel: bool = False
    """Whether the columns' operand comes from a panel."""
    cycles: float = 0.0
    """The estimated cost of one tile."""
    gathers: bool = False
    """Whether some vector is loaded lane by lane in every step."""

    @property
    def cols(self) -> int:
        """Elements of a row."""
        return self.vectors * self.width

    @staticmethod
    def of(params: Params) -> RegisterTile:
        """The tile of a plan."""
        shape = RegisterTile.shape(params)
        return replace(shape, parts=params.number(PARTS), panel=params.word(PANEL) == "packed")

    @staticmethod
    def shape(params: Params) -> RegisterTile:
        """The tile of a plan without the rest of its loops."""
        row, rows, col = (params.number(name) for name in ("row", "rows", "col"))
        return RegisterTile(row, rows, col, params.number("vectors"), params.number("width"))


@dataclass(frozen=True)
class Problem:
    """What a tile depends on."""

    contraction: Contraction
    target: cl.Target

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the spatial variables."""
        return self.contraction.extents

    @property
    def accumulators(self) -> int:
        """Vectors that a tile can have."""
        return self.target.vector_registers - _OTHER_REGISTERS

    @cached_property
    def best(self) -> RegisterTile | None:
        """The cheapest tile; None if nothing is a vector."""
        return min(candidates(self), key=lambda tile: total_cycles(self, tile), default=None)


def candidates(problem: Problem) -> Iterator[RegisterTile]:
    """All tiles that fit into the registers and into the extents, each with and without a panel."""
    target, extents = problem.target, problem.extents
    accumulators = problem.accumulators
    for col, col_extent in enumerate(extents):
        width = target.vector_width
        while width > col_extent:
            width //= 2
        if width < 2:
            continue
        rows_stored = stores_rows(problem, col, width)
        for vectors in range(1, min(accumulators, col_extent // width) + 1):
            for row, row_extent in enumerate(extents):
                if row == col:
                    continue
                shape = RegisterTile(row, 1, col, vectors, width)
                panels = tuple(panel_domain(problem.contraction, shape, 1, target, alone=True))
                for rows in range(1, min(accumulators // vectors, row_extent) + 1):
                    for panel in panels:
                        tile = replace(shape, rows=rows, panel=panel == "packed")
                        yield costed(problem, tile, rows_stored)


def stores_rows(problem: Problem, col: int, width: int) -> bool:
    """Whether a vector along a column is stored as one."""
    (store,) = problem.contraction.output.block.stores()
    return lane_step(problem.contraction.output.block, store, col, width) == 1


def costed(problem: Problem, tile: RegisterTile, rows_stored: bool) -> RegisterTile:
    target = problem.target
    loads = traffic = far = 0.0
    gathers = False
    served = panel_load(problem.contraction, tile)
    for load in problem.contraction.loads:
        copies = tile.rows if load.steps[tile.row] != 0 else 1
        step = load.steps[tile.col]
        elements = copies * (1 if step == 0 else tile.cols)
        if step == 0:
            each = 1.0
        elif (
            step == 1
            or (tile.panel and load is served)
            or is_packed(problem.contraction, load, tile, tile.col)
        ):
            each = float(tile.vectors)
        else:
            each = tile.cols * target.lane_cycles * target.loads_per_cycle
            gathers = True
        loads += copies * each
        # What one tile reads over the whole reduction comes from the second level if it is large.
        size = elements * element_bytes(load)
        if size * problem.contraction.depth > target.l1_cache_bytes / 2:
            traffic += size
        if _evicts_itself(problem, load, tile):
            traffic += copies * _LINE
        if load is served and not tile.panel and is_far(problem.contraction, load, target):
            far += size
    accumulators = tile.rows * tile.vectors
    step_cycles = max(
        accumulators / target.mads_per_cycle,
        loads / target.loads_per_cycle,
        traffic / target.l2_bytes_per_cycle,
        target.mad_cycles,
    )
    # Arithmetic does not hide these: each step reads another page.
    step_cycles += far / target.memory_bytes_per_cycle
    store = accumulators * (1.0 if rows_stored else tile.width * target.lane_cycles)
    cycles = problem.contraction.depth * step_cycles + store + target.tile_cycles
    return replace(tile, cycles=cycles, gathers=gathers)


def _evicts_itself(problem: Problem, load: Load, tile: RegisterTile) -> bool:
    """Whether the rows of a tile are too many lines of memory for their place in the first cache.

    Each is walked one element a step, along the reduction. Lines whose distance is a multiple of a
    page share one set, which has room for as many as the cache has pages; at half of that distance
    there are two sets, and so on.
    """
    step = load.steps[tile.row]
    walked = load.steps[problem.contraction.stage.reduce[-1]] == 1
    if not step or not walked or is_packed(problem.contraction, load, tile, tile.row):
        return False
    pitch = step * element_bytes(load)
    sets = _PAGE // gcd(pitch, _PAGE)
    return pitch >= _LINE and tile.rows > sets * (problem.target.l1_cache_bytes // _PAGE)


def total_cycles(problem: Problem, tile: RegisterTile) -> float:
    tiles = ceil(problem.extents[tile.row] / tile.rows) * ceil(
        problem.extents[tile.col] / tile.cols
    )
    others = prod(problem.extents) / (problem.extents[tile.row] * problem.extents[tile.col])
    return tiles * others * (tile.cycles + _copy(problem, tile) / tiles_of_item(problem, tile))


def cycles_by_rows(problem: Problem) -> float:
    """The cycles of each result by itself, with vectors along a row of memory."""
    target = problem.target
    steps = problem.contraction.depth / target.vector_width
    return prod(problem.extents) * (steps * target.mad_cycles + target.tile_cycles)


def _copy(problem: Problem, tile: RegisterTile) -> float:
    """The cycles of the copy that a work-item makes."""
    load = panel_load(problem.contraction, tile) if tile.panel else None
    if load is None:
        return 0.0
    return copy_cycles(problem.contraction, load, tile, problem.target)


def tiles_of_item(problem: Problem, tile: RegisterTile) -> int:
    """How many tiles of a column each work-item computes; a divisor, so that none is a rest."""
    tiles = prod(problem.extents) / (tile.rows * tile.cols)
    target = problem.target
    wanted = tiles / (target.items_per_core * target.compute_units)
    if not tile.panel:
        wanted = min(target.item_cycles / tile.cycles, wanted)
    return min(chunks(problem, tile), key=lambda n: abs(n - wanted))


def chunks(problem: Problem, tile: RegisterTile) -> list[int]:
    tiles = ceil(problem.extents[tile.row] / tile.rows)
    return [n for n in range(1, tiles + 1) if tiles % n == 0]
