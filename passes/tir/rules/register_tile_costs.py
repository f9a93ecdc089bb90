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
from .cpu import accumulators
from .panels import PANEL, copy_cycles, is_far, panel_domain, panel_load
from .partial_sums import PARTS, parts_domain
from .space import Params
from .stages import lane_step

_LINE = 64
"""Bytes of a line of a CPU's cache."""
_WIDEST = 16
"""Lanes of the widest vector of OpenCL C."""
_HALVES = 4.0
"""Loads that take as long as every other element of two vectors: both, across lines, and a shuffle.

Measured: 3 makes the first convolution of a ResNet a tenth slower.
"""
_SUMS_SHARE = 8
"""Sums in memory take this part of the second cache; measured: a quarter is slower."""
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
        return accumulators(self.target)

    @cached_property
    def best(self) -> RegisterTile | None:
        """The cheapest tile; None if nothing is a vector."""
        return min(candidates(self), key=lambda tile: total_cycles(self, tile), default=None)


def candidates(problem: Problem) -> Iterator[RegisterTile]:
    """All tiles that fit into the registers and into the extents, each with and without a panel."""
    target, extents = problem.target, problem.extents
    accumulators = problem.accumulators
    for col, width in _columns(problem):
        col_extent = extents[col]
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
                    tile = _in_parts(problem, replace(shape, rows=rows))
                    if tile is not None:
                        yield costed(problem, tile, rows_stored)


def _columns(problem: Problem) -> Iterator[tuple[int, int]]:
    """The variables that can be columns, each with the lanes of its vectors.

    Where a load takes every other element, twice the lanes of its vectors are loaded.
    """
    for col, extent in enumerate(problem.extents):
        width = problem.target.vector_width
        while width > extent:
            width //= 2
        if width >= 2:
            yield col, width
        if 2 * width > _WIDEST and any(load.steps[col] == 2 for load in problem.contraction.loads):
            yield col, _WIDEST // 2


def _in_parts(problem: Problem, tile: RegisterTile) -> RegisterTile | None:
    """A tile that walks a panel in parts, if it has one and something else leaves the caches.

    A part of the panel takes half of the first cache, as in GotoBLAS, and lines that several tiles
    of a work-item read stay in the second one.
    """
    contraction, target = problem.contraction, problem.target
    load = panel_load(contraction, tile)
    if load is None or not is_far(contraction, load, target):
        return None
    steps = target.l1_cache_bytes / 2 / (tile.cols * element_bytes(load))
    places = max((_line_places(problem, other, tile) for other in contraction.loads), default=0)
    fits = "packed" in panel_domain(contraction, tile, 1, target, alone=True)
    if fits and places * contraction.depth <= target.l2_cache_bytes:
        return None
    if places:
        steps = min(steps, target.l2_cache_bytes / places)
    longest = contraction.longest_steps
    numbers = (n for n in range(2, longest + 1) if longest % n == 0)
    parts = next((n for n in numbers if contraction.depth / n <= steps), None)
    if parts is None or contraction.depth / parts < steps / 4:
        return None
    made = replace(tile, parts=parts, panel=True)
    tiles = _preferred_chunks(problem, made)
    if not tiles or parts not in parts_domain(contraction, made, tiles[0], target, alone=True):
        return None
    fits = "packed" in panel_domain(contraction, made, parts, target, alone=True)
    return made if fits else None


def _line_places(problem: Problem, load: Load, tile: RegisterTile) -> int:
    """Bytes of a cache for which a line of a load competes, if tiles share lines; else 0.

    The rows of a tile are a part of a line, of which each step of the reduction has another one.
    Lines of which each lies in another page share a few places.
    """
    bytes_ = element_bytes(load)
    step = load.steps[problem.contraction.longest]
    if load.constant is not None or load.steps[tile.row] != 1 or step is None:
        return 0
    return max(gcd(step * bytes_, _PAGE), _LINE) if step * bytes_ >= _LINE else 0


def stores_rows(problem: Problem, col: int, width: int) -> bool:
    """Whether a vector along a column is stored as one."""
    (store,) = problem.contraction.output.block.stores()
    return lane_step(problem.contraction.output, store, col, width) == 1


def costed(problem: Problem, tile: RegisterTile, rows_stored: bool) -> RegisterTile:
    """A tile with its cycles."""
    steps = problem.contraction.depth / tile.parts
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
        elif step == 2 and 2 * tile.width <= _WIDEST:
            each = _HALVES * tile.vectors
        else:
            each = tile.cols * target.lane_cycles * target.loads_per_cycle
            gathers = True
        loads += copies * each
        # What a tile reads over a part of the reduction comes from the second level if it is large.
        size = elements * element_bytes(load)
        if size * steps > target.l1_cache_bytes / 2:
            traffic += size
        if _evicts_itself(problem, load, tile):
            traffic += copies * _LINE
        if load is served and not tile.panel and is_far(problem.contraction, load, target):
            far += size
        if _line_places(problem, load, tile) * steps > target.l2_cache_bytes:
            far += _LINE
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
    if tile.parts > 1:
        # Each part is added to sums in memory.
        store += tile.parts * (3 * accumulators / target.loads_per_cycle + target.tile_cycles)
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
    return min(_preferred_chunks(problem, tile), key=lambda n: abs(n - wanted))


def chunks(problem: Problem, tile: RegisterTile) -> list[int]:
    """The numbers of tiles of a column that a work-item can compute."""
    tiles = ceil(problem.extents[tile.row] / tile.rows)
    return [n for n in range(1, tiles + 1) if tiles % n == 0]


def _preferred_chunks(problem: Problem, tile: RegisterTile) -> list[int]:
    """Those whose sums leave most of the second cache to operands, if a work-item keeps any."""
    found = chunks(problem, tile)
    if tile.parts == 1:
        return found
    extent, most = problem.extents[tile.row], problem.target.l2_cache_bytes / _SUMS_SHARE
    return [n for n in found if n * tile.rows <= extent and 4 * n * tile.rows * tile.cols <= most]
