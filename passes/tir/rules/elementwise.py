"""Kernels without a reduction, which walk memory in order."""

from __future__ import annotations

from math import prod

from ....dialects import cl, tir
from ..schedule import Schedule
from .grid import (
    DEFAULT_LOCAL_SIZE,
    LOCAL_SIZE,
    bind_grid,
    bind_groups,
    group_size,
    group_sizes,
    join_grid,
    local_sizes,
)
from .naive_kernel import NaiveKernel
from .rule import Needs, Rule
from .space import AnyDomain, Choice, Domains, Params, Range, Space, Value, number
from .stages import Stage, blocked_variable

_WIDTHS = (1, 2, 4, 8, 16)
WIDTH = number("width", "lanes of a vector", when="one for each piece", repeated=True)
CHUNK = number("chunk", "vectors of a work-item", when="one for each piece", repeated=True)
GROUP = number("group", "work-items of a group", when="one for each piece", repeated=True)


class Pieces:
    """The stages that each compute a piece of the result."""

    def __init__(self, kernel: NaiveKernel):
        self.main = max(kernel.outputs, key=lambda stage: stage.points)
        """The longest piece."""
        self.borders = [
            stage for stage in kernel.outputs if stage is not self.main and not stage.block.loads()
        ]
        """The borders of padding, which share the grid of the pieces."""
        self.pieces = [
            stage for stage in kernel.outputs if stage not in self.borders and stage.loops
        ]
        """The stages that read something."""
        self.sizes = [_sizes(stage) for stage in self.pieces]
        self.lanes = [_lanes(stage) for stage in self.pieces]

    def widths(self, piece: int) -> tuple[int, ...]:
        """Return the lanes that vectors of a piece may have: those of a block if it has blocks."""
        lanes = self.lanes[piece]
        if lanes is not None:
            return (lanes[1],)
        return tuple(width for width in _WIDTHS if width <= self.sizes[piece][-1])

    def vectors(self, piece: int, width: int) -> int:
        """Return how many vectors a piece has."""
        if self.lanes[piece] is not None:
            return self.pieces[piece].points // width
        *outer, inner = self.sizes[piece]
        return prod(outer) * -(-inner // width)


def _lanes(stage: Stage) -> tuple[int, int] | None:
    """Return the variable along which a piece is written in whole blocks, and their size."""
    stores = stage.block.stores()
    found = blocked_variable(stage, stores[0]) if len(stores) == 1 else None
    return found if found and stage.block.iter_extents[found[0]] % found[1] == 0 else None


def _sizes(stage: Stage) -> list[int]:
    return [prod(stage.loops[i].size for i in group) for group in contiguous_groups(stage)]


def contiguous_groups(stage: Stage) -> list[list[int]]:
    """Return neighbouring variables in groups that every access walks like one variable.

    Variables i and j (inner) are contiguous if each access moves by `extent(j)` steps of j per step
    of i, so that no index needs a division afterwards.
    """
    moves = list(stage.strides.values())
    sizes = [loop.size for loop in stage.loops]
    groups, last, size = [[0]], 0, sizes[0]
    for position in range(1, len(sizes)):
        extent = sizes[position]
        together = all(
            move[last] is not None
            and move[position] is not None
            and move[last] == (move[position] or 0) * extent
            for move in moves
        )
        if together or size == 1 or extent == 1:
            groups[-1].append(position)
            last = position if extent > 1 else last
            size *= extent
        else:
            groups.append([position])
            last, size = position, extent
    return groups


def _collapse(schedule: Schedule, stage: Stage) -> list[tir.ForOp]:
    """Fuse the loops of each group; the innermost that runs repeatedly gives the name."""
    fused: list[tir.ForOp] = []
    for group in contiguous_groups(stage):
        loops = [stage.loops[i] for i in group]
        named = next((loop for loop in reversed(loops[1:]) if loop.size > 1), loops[0])
        fused.append(schedule.fuse(*loops, name=named.var.name_hint))
    return fused


def _cpu_domains(pieces: Pieces, target: cl.Target) -> Domains:
    found: dict[str, AnyDomain] = {LOCAL_SIZE.name: local_sizes(target)}
    for piece in range(len(pieces.pieces)):
        found[WIDTH.at(piece)] = Choice(pieces.widths(piece))

        def chunks(params: Params, piece: int = piece) -> Range:
            return Range(1, max(1, pieces.vectors(piece, params.number(WIDTH.at(piece)))))

        found[CHUNK.at(piece)] = chunks
    return found


def _cpu_default(space: Space[Pieces]) -> Params:
    """Return chunks that give enough work-items to balance the cores, each with enough to do."""
    pieces, target = space.structure, space.target
    chosen: dict[str, Value] = {LOCAL_SIZE.name: DEFAULT_LOCAL_SIZE}
    for piece in range(len(pieces.pieces)):
        widths = pieces.widths(piece)
        width = max((w for w in widths if w <= target.machine.vector_width), default=widths[0])
        chosen[WIDTH.at(piece)] = width
        total = pieces.vectors(piece, width)
        items = max(
            target.device.compute_units * target.machine.items_per_core,
            total // target.machine.item_vectors,
        )
        chosen[CHUNK.at(piece)] = max(1, total // items)
    return Params(chosen)


def _cpu_apply(schedule: Schedule, pieces: Pieces, params: Params) -> None:
    schedule.local_size(*params.numbers(LOCAL_SIZE.name))
    for piece, (stage, blocks) in enumerate(zip(pieces.pieces, pieces.lanes, strict=True)):
        loops = _block_loops(schedule, stage, *blocks) if blocks else _collapse(schedule, stage)
        width, chunk = params.number(WIDTH.at(piece)), params.number(CHUNK.at(piece))
        grid = _vectorize(schedule, loops, width, chunk)
        bind_grid(schedule, [schedule.fuse(*grid)] if len(pieces.pieces) > 1 and grid else grid)
    join_grid(schedule, pieces.borders, pieces.main)


def _block_loops(schedule: Schedule, stage: Stage, variable: int, lanes: int) -> list[tir.ForOp]:
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
    _cpu_domains,
    _cpu_default,
    _cpu_apply,
)
"""Vectors along memory, the lanes of a block where channels lie in blocks.

Pieces share the kernel's grid, which spans the longest of their loops on each axis. If there are
several, each is one loop, so that the grid is the longest piece and not a product of loops of
different pieces.
"""


def _gpu_domains(pieces: Pieces, target: cl.Target) -> Domains:
    return {GROUP.at(piece): group_sizes(target) for piece in range(len(pieces.pieces))}


def _gpu_default(space: Space[Pieces]) -> Params:
    all_sizes = space.structure.sizes
    inner = [prod(sizes) if len(all_sizes) > 1 else sizes[-1] for sizes in all_sizes]
    groups = [group_size(size, space.target) for size in inner]
    return Params({GROUP.at(piece): group for piece, group in enumerate(groups)})


def _gpu_apply(schedule: Schedule, pieces: Pieces, params: Params) -> None:
    for piece, stage in enumerate(pieces.pieces):
        loops = _collapse(schedule, stage)
        loops = [schedule.fuse(*loops)] if len(pieces.pieces) > 1 else loops
        bind_groups(schedule, loops, params.number(GROUP.at(piece)))
    join_grid(schedule, pieces.borders, pieces.main)


GPU_ELEMENTWISE = Rule(
    "gpu-elementwise",
    1,
    Needs(device="gpu", texels=False, reductions=False),
    (GROUP,),
    Pieces,
    _gpu_domains,
    _gpu_default,
    _gpu_apply,
)
"""One element for each work-item, neighbours next to each other; pieces as on a CPU."""
