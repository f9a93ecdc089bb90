"""Kernels without a reduction: walk memory in order."""

from __future__ import annotations

from math import prod

from ....dialects import cl, tir
from ..schedule import Schedule
from .grid import (
    DEFAULT_LOCAL_SIZE,
    LOCAL_SIZE,
    bind_grid,
    bind_groups,
    group_parameter,
    group_size,
    join_grid,
    local_size_parameter,
)
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Parameter, Params, Range, Space, Value
from .stages import Stage, blocked_variable

_Walks = list[list[int]]
"""The variables of a piece in groups; every access walks a group as one loop."""


class _Pieces:
    """The stages that each compute a piece of the result, and what else they are asked for."""

    def __init__(self, kernel: NaiveKernel, target: cl.Target):
        self.pieces, _, _ = _split_pieces(kernel)
        self.sizes = [_sizes(stage) for stage in self.pieces]
        self.lanes = [_lanes(stage) for stage in self.pieces]
        self.target = target

    def widths(self, piece: int) -> tuple[int, ...]:
        """The lanes that vectors of a piece may have: those of a block where it has blocks."""
        lanes = self.lanes[piece]
        if lanes is not None:
            return (lanes[1],)
        return tuple(width for width in (1, 2, 4, 8, 16) if width <= self.sizes[piece][-1])

    def vectors(self, piece: int, width: int) -> int:
        """The vectors of a piece."""
        if self.lanes[piece] is not None:
            return self.pieces[piece].points // width
        *outer, inner = self.sizes[piece]
        return prod(outer) * -(-inner // width)


def _lanes(stage: Stage) -> tuple[int, int] | None:
    """The variable along which a piece is written in whole blocks, and the size of these."""
    stores = stage.block.stores()
    found = blocked_variable(stage, stores[0]) if len(stores) == 1 else None
    return found if found and stage.block.iter_extents[found[0]] % found[1] == 0 else None


def _split_pieces(kernel: NaiveKernel) -> tuple[list[Stage], list[Stage], Stage]:
    """Pieces that read something; borders of padding, which join their grid; the longest piece."""
    main = max(kernel.outputs, key=lambda stage: stage.points)
    borders = [stage for stage in kernel.outputs if stage is not main and not stage.block.loads()]
    pieces = [stage for stage in kernel.outputs if stage not in borders]
    return [stage for stage in pieces if stage.loops], borders, main


def _sizes(stage: Stage) -> list[int]:
    return [prod(stage.loops[i].size for i in group) for group in walks(stage)]


def walks(stage: Stage) -> _Walks:
    """Neighbouring variables in groups that every access walks as one.

    Variables i and j (inner) are one walk where each access moves by `extent(j)` steps of j per
    step of i, so that no index needs a division afterwards.
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
    """Fuse the loops of each walk; the innermost one that runs more than once gives the name."""
    fused: list[tir.ForOp] = []
    for group in walks(stage):
        loops = [stage.loops[i] for i in group]
        named = next((loop for loop in reversed(loops[1:]) if loop.size > 1), loops[0])
        fused.append(schedule.fuse(*loops, name=named.var.name_hint))
    return fused


def _names(base: str, count: int) -> list[str]:
    """A parameter for each piece: `width`, `width_1`, ..."""
    return [base if i == 0 else f"{base}_{i}" for i in range(count)]


def _cpu_fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Pieces]:
    facts = _Pieces(kernel, target)
    count = len(facts.pieces)
    parameters = [local_size_parameter(target)]
    for piece, (width, chunk) in enumerate(
        zip(_names("width", count), _names("chunk", count), strict=True)
    ):
        parameters.append(Parameter(width, "lanes of a vector", Choice(facts.widths(piece))))

        def chunks(params: Params, piece: int = piece, width: str = width) -> Range:
            return Range(1, max(1, facts.vectors(piece, params.number(width))))

        parameters.append(Parameter(chunk, "vectors of a work-item", chunks))
    return Space(parameters, facts)


def _cpu_default(space: Space[_Pieces]) -> Params:
    """Enough work-items to balance the cores, each with enough to do."""
    facts = space.facts
    chosen: dict[str, Value] = {LOCAL_SIZE: DEFAULT_LOCAL_SIZE}
    count = len(facts.pieces)
    for piece, (name, chunk) in enumerate(
        zip(_names("width", count), _names("chunk", count), strict=True)
    ):
        widths = facts.widths(piece)
        width = max((w for w in widths if w <= facts.target.vector_width), default=widths[0])
        chosen[name] = width
        total = facts.vectors(piece, width)
        items = max(
            facts.target.compute_units * facts.target.items_per_core,
            total // facts.target.item_vectors,
        )
        chosen[chunk] = max(1, total // items)
    return Params(chosen)


def _cpu_apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    schedule.local_size(*params.numbers(LOCAL_SIZE))
    pieces, borders, main = _split_pieces(kernel)
    count = len(pieces)
    for stage, width, chunk in zip(
        pieces, _names("width", count), _names("chunk", count), strict=True
    ):
        blocks = _lanes(stage)
        loops = _block_loops(schedule, stage, *blocks) if blocks else _collapse(schedule, stage)
        grid = _vectorize(schedule, loops, params.number(width), params.number(chunk))
        bind_grid(schedule, [schedule.fuse(*grid)] if count > 1 and grid else grid)
    join_grid(schedule, borders, main)


def _block_loops(schedule: Schedule, stage: Stage, variable: int, lanes: int) -> list[tir.ForOp]:
    """The loops of a piece with the lanes of its blocks innermost."""
    loops = list(stage.loops)
    loops[variable], inner = schedule.split(loops[variable], lanes)
    schedule.reorder(*loops, inner)
    return [*loops, inner]


def _vectorize(
    schedule: Schedule, loops: list[tir.ForOp], width: int, chunk: int
) -> list[tir.ForOp]:
    """Vectors inside, `chunk` of them for each work-item; returns the loops over work-items."""
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
    Kernels(device="cpu", texels=False, reductions=False),
    _cpu_fit,
    _cpu_default,
    _cpu_apply,
)
"""Vectors along memory, the lanes of a block where channels lie in blocks.

Pieces share the kernel's grid, which spans the longest of their loops on each axis: of several each
is one loop, so that the grid is the longest piece and not a product of loops of different ones.
"""


def _gpu_fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Pieces]:
    facts = _Pieces(kernel, target)
    return Space(
        [group_parameter(target, name) for name in _names("group", len(facts.pieces))], facts
    )


def _gpu_default(space: Space[_Pieces]) -> Params:
    facts = space.facts
    inner = [prod(sizes) if len(facts.sizes) > 1 else sizes[-1] for sizes in facts.sizes]
    groups = [group_size(size, facts.target) for size in inner]
    return Params(dict(zip(_names("group", len(groups)), groups, strict=True)))


def _gpu_apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    pieces, borders, main = _split_pieces(kernel)
    for stage, group in zip(pieces, _names("group", len(pieces)), strict=True):
        loops = _collapse(schedule, stage)
        loops = [schedule.fuse(*loops)] if len(pieces) > 1 else loops
        bind_groups(schedule, loops, params.number(group))
    join_grid(schedule, borders, main)


GPU_ELEMENTWISE = Rule(
    "gpu-elementwise",
    1,
    Kernels(device="gpu", texels=False, reductions=False),
    _gpu_fit,
    _gpu_default,
    _gpu_apply,
)
"""One element for each work-item, neighbours next to each other; pieces as on a CPU."""
