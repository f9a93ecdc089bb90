"""Panels: copies, in a work-item's private memory, of the operand that gives a tile its columns.

The rows of a large matrix are far apart: each step of a reduction reads another page, and rows
whose distance is a power of two share a few places in a cache. A copy of one tile's columns is
contiguous and stays in the cache while the work-item computes all of its rows. The copy of a
transposed operand is transposed back, so that no tile gathers vectors.
"""

from __future__ import annotations

from math import prod

from xdsl.ir.affine import AffineExpr

from .....dialects import cl, tir
from .....machine.core import (
    LANE_CYCLES,
    LOADS_PER_CYCLE,
    MEMORY_BYTES_PER_CYCLE,
    l2_bytes_per_cycle,
)
from ...schedule import Schedule
from ...schedule.analysis import memref_of, written
from ..shared.contraction import Contraction, OperandLoad, Tile, element_bytes
from ..space import Choice, word
from .beliefs import near_bytes

PANEL = word("panel", "whether a work-item copies the operand of the columns first")
_PLAIN = Choice(("plain",))
_BOTH = Choice(("plain", "packed"))


def panel_load(problem: Contraction, tile: Tile) -> OperandLoad | None:
    """Return the only load that a panel can serve: of a matrix that the rows of a tile share.

    Each of its indices is a different variable. Constants need no panel, because their layout can
    change.
    """
    found = [load for load in problem.loads if _serves(problem, load, tile)]
    return found[0] if len(found) == 1 else None


def _serves(problem: Contraction, load: OperandLoad, tile: Tile) -> bool:
    if load.constant is not None or load.steps[tile.row] != 0 or load.steps[tile.col] == 0:
        return False
    shape = memref_of(load.op.memref).get_shape()
    pairs = zip(load.dims, shape, strict=True)
    dims = [dim for dim, size in pairs if dim is not None or size > 1]
    others = [other for other in problem.loads if other is not load]
    return (
        None not in dims
        and len(set(dims)) == len(dims)
        and tile.col in dims
        and all(other.op.memref is not load.op.memref for other in others)
    )


def panel_domain(problem: Contraction, tile: Tile, parts: int, room: float) -> Choice:
    """Return whether a panel of one of the parts of the reduction fits into `room` bytes."""
    load = panel_load(problem, tile)
    if load is None or _bytes(problem, load, tile, parts) > room:
        return _PLAIN
    return _BOTH


def is_near(problem: Contraction, tile: Tile, parts: int, target: cl.Target) -> bool:
    """Return whether a panel is believed to fit L2 beside the other operands."""
    return "packed" in panel_domain(problem, tile, parts, near_bytes(target) / 2)


def _bytes(problem: Contraction, load: OperandLoad, tile: Tile, parts: int) -> int:
    """Return the bytes of a panel, in which halves become floats."""
    elements = _elements(problem, load, tile)
    if problem.longest in load.dims:
        elements //= parts
    return elements * max(element_bytes(load), 4)


def _elements(problem: Contraction, load: OperandLoad, tile: Tile) -> int:
    """Return the elements of the panels of all parts."""
    extents = problem.stage.block.iter_extents
    reduced = (extents[dim] for dim in problem.stage.reduce if dim in load.dims)
    return tile.cols * prod(reduced)


def is_far(problem: Contraction, load: OperandLoad, target: cl.Target) -> bool:
    """Return whether a matrix leaves the second cache before the next tile reads it again."""
    extents = problem.stage.block.iter_extents
    batch = prod(
        extents[dim] for dim in load.dims if dim is not None and _is_batch(problem, load, dim)
    )
    size = prod(memref_of(load.op.memref).get_shape()) // batch
    return size * element_bytes(load) > target.machine.l2_cache_bytes / 2


def _is_batch(problem: Contraction, load: OperandLoad, dim: int) -> bool:
    """Return whether every operand has a matrix of its own for each value of a variable."""
    return dim in problem.stage.spatial and all(other.steps[dim] != 0 for other in problem.loads)


def copy_cycles(problem: Contraction, load: OperandLoad, tile: Tile, target: cl.Target) -> float:
    """Return the cycles that the panels of all parts take."""
    elements = _elements(problem, load, tile)
    each = 2 / (LOADS_PER_CYCLE * tile.width)
    if load.steps[tile.col] != 1:
        each = LANE_CYCLES
    far = is_far(problem, load, target)
    rate = MEMORY_BYTES_PER_CYCLE if far else l2_bytes_per_cycle(target.machine)
    return elements * max(each, element_bytes(load) / rate)


def copy_panel(
    schedule: Schedule, problem: Contraction, load: OperandLoad, tile: Tile, loop: tir.ForOp
) -> None:
    """Copy the panel at the start of `loop`, with vectors along the columns."""
    copy = schedule.cache_read(problem.stage.block, load.op.memref, tir.Scope.Private)
    (panel,) = written(copy)
    position = load.dims.index(tile.col)
    others = [i for i in range(len(load.dims)) if i != position]
    if position < len(others):
        schedule.transform_layout(panel, [AffineExpr.dimension(i) for i in (*others, position)])
    loops = schedule.compute_at(copy, loop)
    vectors, lanes = schedule.split(loops[position], tile.width)
    schedule.reorder(*(loops[i] for i in others), vectors, lanes)
    schedule.unroll(vectors)
    schedule.vectorize(lanes)
