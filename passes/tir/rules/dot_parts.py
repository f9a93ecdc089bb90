"""Products of bytes where there are few results: the work-items of a group share each sum.

As `texel-parts` for floats: each work-item of a tile adds up some of the channels, four products at
a time, and their sums meet in local memory. A second launch, as parts in global memory take, costs
more than most of these kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ....dialects import cl, tir
from ....dialects.tir import QUAD, TEXEL
from ..schedule import Schedule
from ..schedule.combine import can_combine
from .byte_products import ByteProducts
from .channel_tiles import Tile
from .dot_texels import Problem, order_reduction, problem_of, tile_of, tile_parameters
from .grid import bind_axes, join_grid_of_texels
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .shared_sums import add_up, arrange, order_tiles, put_local
from .space import Choice, Misfit, Parameter, Params, Range, Space

_PARTS = (2, 4, 8, 16, 32)
_BYTES = 4
"""Of a sum."""
_JOIN = 8.0
"""What a part of a word of sums costs, in multiply-adds: a store, a load and an addition."""
_START = 64.0
"""The same of a tile: the barrier, and the place of what a work-item writes."""
_APART = 0.6
"""What work-items are worth that read weights of their own, beside those that share them: 32 tiles
of channels in a group take four times as long as rows do (measured on an H200)."""
_FAR = 0.85
"""What those are worth that share weights and read other images, not other rows: these take half as
long (measured the same way)."""
_GROUPS = (tir.LoopKind.GroupX, tir.LoopKind.GroupY, tir.LoopKind.GroupZ)


@dataclass(frozen=True)
class _Facts:
    problem: Problem

    @property
    def target(self) -> cl.Target:
        return self.problem.target

    @cached_property
    def channels(self) -> int:
        """Words of terms that a sum runs over."""
        term = self.problem.products.term
        return self.problem.contraction.stage.block.iter_extents[term] // QUAD

    @cached_property
    def depth(self) -> int:
        """Words of a sum."""
        return self.problem.contraction.depth // QUAD

    def parts(self, tile: Tile) -> tuple[int, ...]:
        """Into how many equal parts the sums of a tile can go."""
        most = min(self.target.max_work_group_size, self.channels)
        return tuple(n for n in _PARTS if n <= most and self.channels % n == 0)

    @cached_property
    def along(self) -> tuple[int, ...]:
        """The variables in which the tiles of a group can differ."""
        problem = self.problem
        others = (i for i in range(len(problem.extents)) if i not in (problem.lane, problem.column))
        return (problem.lane, *(i for i in others if problem.extents[i] > 1))

    def tiles(self, tile: Tile, along: int) -> int:
        """Tiles along a variable."""
        problem = self.problem
        return problem.texels // tile.blocks if along == problem.lane else problem.extents[along]

    def members(self, tile: Tile, parts: int, along: int) -> int:
        """Tiles of a group at the most."""
        size = parts * tile.columns * tile.blocks * TEXEL * _BYTES
        most = min(self.target.max_work_group_size // parts, self.target.local_memory_bytes // size)
        return min(self.tiles(tile, along), most)

    def group(self, tile: Tile, parts: int) -> tuple[float, int, int]:
        """What a group is worth, its tiles and their variable.

        That is the share of its lanes that computes something, less where these share no weights.
        """
        most = max(1, self.target.preferred_work_group // parts)
        return max(
            (self._use(self.tiles(tile, along), members, parts, along), members, along)
            for along in self.along
            for members in range(1, min(most, self.members(tile, parts, along)) + 1)
        )

    def _use(self, extent: int, members: int, parts: int, along: int) -> float:
        worth = _APART if along == self.problem.lane else 1.0 if along == self.along[-1] else _FAR
        items, wave = members * parts, self.target.small_work_group
        covered = -(-extent // members) * members
        return round(worth * extent / covered * items / (-(-items // wave) * wave), 3)

    def cost(self, tile: Tile, parts: int) -> float:
        """As of a tile of one work-item, and what adding up the parts takes."""
        texels = tile.columns * tile.blocks
        adding = _JOIN * -(-texels // parts) * parts + _START
        joining = parts / texels * adding / self.depth
        return (self.problem.cost(tile, parts) + joining) / self.group(tile, parts)[0]

    @cached_property
    def best(self) -> tuple[float, Tile, int] | None:
        """The best tile by its cost, and its parts; None where no tile has any."""
        found = [
            (self.cost(tile, parts), tile.columns, tile.blocks, parts)
            for tile in self.problem.tiles()
            for parts in self.parts(tile)
            if self.members(tile, parts, self.problem.lane)
        ]
        if not found:
            return None
        cost, columns, blocks, parts = min(found)
        return cost, Tile(blocks, columns), parts


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts] | Misfit:
    problem = problem_of(kernel, target)
    if isinstance(problem, Misfit):
        return problem
    if not can_combine(problem.contraction.stage.block):
        return Misfit("parts of its sums cannot be added")
    facts = _Facts(problem)

    def members(params: Params) -> Range:
        parts, along = params.number("parts"), params.number("along")
        return Range(1, facts.members(tile_of(params), parts, along))

    space = Space(
        (
            *tile_parameters(problem),
            Parameter("parts", "work-items of a tile", lambda p: Choice(facts.parts(tile_of(p)))),
            Parameter(
                "along", "the variable in which tiles of a group differ", Choice(facts.along)
            ),
            Parameter("members", "tiles of a group", members),
        ),
        facts,
    )
    return Misfit("its sums are too short to be shared") if space.is_empty else space


def _objection(space: Space[_Facts]) -> str | None:
    facts = space.facts
    if facts.best is None:
        return "its sums are too short"
    problem = facts.problem
    if facts.best[0] >= min(problem.cost(tile) for tile in problem.tiles()):
        return "a work-item for each tile does as well"
    return None


def _default(space: Space[_Facts]) -> Params:
    facts = space.facts
    if facts.best is None:
        return next(space.points())
    _, tile, parts = facts.best
    _, members, along = facts.group(tile, parts)
    return Params(
        {
            "columns": tile.columns,
            "blocks": tile.blocks,
            "window": max(facts.problem.windows(tile)),
            "parts": parts,
            "along": along,
            "members": members,
        }
    )


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    """Tiles of a group along x, parts of their sums along y."""
    products = ByteProducts.of(kernel, TEXEL)
    assert isinstance(products, ByteProducts), "the rule fits"
    problem = Problem(products, cl.Target())
    products.pack(schedule, TEXEL, terms_first=True)
    fold, write, last = _share(schedule, problem, params.number("parts"))
    nest = arrange(schedule, problem.contraction.output, problem, params)
    add_up(schedule, problem, schedule.compute_at(last, nest.item))
    schedule.keep_private(last)
    tiles, part = order_tiles(schedule, problem, schedule.compute_at(write, nest.place), params)
    inner, rank = schedule.compute_at(fold, part), len(problem.extents)
    *window, terms, quad = inner[rank + 1 :]
    order_reduction(schedule, problem, inner[: rank + 1], [terms, *window, quad], params)
    schedule.vectorize(nest.lanes)
    put_local(schedule, write, problem)
    bind_axes(schedule, nest.grid, _GROUPS)
    for loop in (tiles, nest.tile):
        schedule.bind(loop, tir.LoopKind.LocalX)
    for loop in (part, nest.item):
        schedule.bind(loop, tir.LoopKind.LocalY)
    join_grid_of_texels(schedule, kernel.borders, kernel.main)


def _share(
    schedule: Schedule, problem: Problem, parts: int
) -> tuple[tir.BlockOp, tir.BlockOp, tir.BlockOp]:
    """The blocks that sum a part in registers, put it into local memory, and add up the parts."""
    stage, term = problem.contraction.stage, problem.products.term
    at = stage.reduce.index(term)
    reduce = [stage.loops[i] for i in stage.reduce]
    reduce[at], quad = schedule.split(reduce[at], QUAD)
    schedule.reorder(*reduce, quad)
    _, part = schedule.split(reduce[at], parts, ("step", "part"))
    fold, last = schedule.rfactor_tree(part, parts, 0)
    return fold, schedule.cache_write(fold, tir.Scope.Private), last


DOT_PARTS = Rule(
    "dot-parts",
    1,
    Kernels(device="gpu", reductions=True),
    _fit,
    _default,
    _apply,
    lambda space, params: space.facts.cost(tile_of(params), params.number("parts")),
    _objection,
)
"""Which variables are texels, columns and terms follows from the operands, as in `dot-texels`."""
