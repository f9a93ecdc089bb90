"""Kernels without a reduction on a CPU: vectors that walk memory in order."""

from __future__ import annotations

from .....dialects import cl, tir
from ...schedule import Schedule
from ..rule import Needs, Rule
from ..shared.grid import DEFAULT_LOCAL_SIZE, LOCAL_SIZE, bind_grid, join_grid, local_sizes
from ..shared.pieces import Pieces, collapse
from ..space import AnyDomain, Choice, Domains, Params, Range, Space, Value, number
from ..stages import KernelStage
from .beliefs import ITEMS_PER_CORE

_ITEM_VECTORS = 16
"""Least vectors of results per work-item. Starting one takes about 10 ns (PoCL, Intel's
runtime)."""

WIDTH = number("width", "lanes of a vector", when="one for each piece", repeated=True)
CHUNK = number("chunk", "vectors of a work-item", when="one for each piece", repeated=True)


def _domains(pieces: Pieces, target: cl.Target) -> Domains:
    found: dict[str, AnyDomain] = {LOCAL_SIZE.name: local_sizes(target)}
    for piece in range(len(pieces.pieces)):
        found[WIDTH.at(piece)] = Choice(pieces.widths(piece))

        def chunks(params: Params, piece: int = piece) -> Range:
            return Range(1, max(1, pieces.vectors(piece, params.number(WIDTH.at(piece)))))

        found[CHUNK.at(piece)] = chunks
    return found


def _default(space: Space[Pieces]) -> Params:
    """Return chunks that balance the cores and give each work-item enough work."""
    pieces, target = space.structure, space.target
    chosen: dict[str, Value] = {LOCAL_SIZE.name: DEFAULT_LOCAL_SIZE}
    for piece in range(len(pieces.pieces)):
        widths = pieces.widths(piece)
        width = max((w for w in widths if w <= target.machine.vector_width), default=widths[0])
        chosen[WIDTH.at(piece)] = width
        total = pieces.vectors(piece, width)
        items = max(
            target.device.compute_units * ITEMS_PER_CORE,
            total // _ITEM_VECTORS,
        )
        chosen[CHUNK.at(piece)] = max(1, total // items)
    return Params(chosen)


def _apply(schedule: Schedule, pieces: Pieces, params: Params) -> None:
    schedule.local_size(*params.numbers(LOCAL_SIZE.name))
    images = {stage.loops[0].size for stage in pieces.pieces}
    grids: list[list[tir.ForOp]] = []
    for piece, (stage, blocks) in enumerate(zip(pieces.pieces, pieces.lanes, strict=True)):
        loops = _block_loops(schedule, stage, *blocks) if blocks else collapse(schedule, stage)
        width, chunk = params.number(WIDTH.at(piece)), params.number(CHUNK.at(piece))
        grids.append(_vectorize(schedule, loops, width, chunk))
    # Of pieces of different sizes, a launch for fewer images leaves out the same images.
    apart = all(len(grid) > 1 and {grid[0].size} == images for grid in grids)
    for grid in grids:
        if len(grids) > 1 and grid:
            outer = grid[:1] if apart else []
            grid = [*outer, schedule.fuse(*grid[len(outer) :])]
        bind_grid(schedule, grid)
    join_grid(schedule, pieces.borders, pieces.main)


def _block_loops(
    schedule: Schedule, stage: KernelStage, variable: int, lanes: int
) -> list[tir.ForOp]:
    """Return the loops of a piece with the lanes of its blocks innermost."""
    loops = list(stage.loops)
    loops[variable], inner = schedule.split(loops[variable], lanes)
    schedule.reorder(*loops, inner)
    return [*loops, inner]


def _vectorize(
    schedule: Schedule, loops: list[tir.ForOp], width: int, chunk: int
) -> list[tir.ForOp]:
    """Run `chunk` vectors in each work-item; return the loops over work-items."""
    *grid, inner = loops
    if width > 1:
        inner, lanes = schedule.split(inner, width, overlap=True)
        schedule.vectorize(lanes)
    grid.append(inner)
    while grid and chunk > 1:
        loop = grid.pop()
        if loop.size > chunk:
            grid.append(schedule.split(loop, chunk)[0])
            break
        chunk //= loop.size
    return grid


CPU_ELEMENTWISE = Rule(
    "cpu-elementwise",
    1,
    Needs(device="cpu", texels=False, reductions=False),
    (LOCAL_SIZE, WIDTH, CHUNK),
    Pieces,
    _domains,
    _default,
    _apply,
)
"""Vectors along memory, the lanes of a block where channels lie in blocks.

Pieces share the kernel's grid, which spans the longest of their loops on each axis. If there are
several, each is one loop beside that over images, so that the grid is the longest piece and not a
product of loops of different pieces.
"""
