"""Reductions on a GPU whose rows are too few or too long for one work-item each.

The work-items of a group share the rows of that group: each folds a strided part of a row in its
registers, then a tree in local memory combines the parts, and all of them write the output (Harris,
"Optimizing Parallel Reduction in CUDA", 2007). The stages of a softmax or a norm follow each other
in one kernel, and their results stay in registers.

Neighbouring work-items read neighbouring elements: of one row where the reduction runs along
memory, else of neighbouring rows. Four channels of a packed tensor are one vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd

from ....dialects import cl, tir
from ....dialects.tir import TEXEL
from ..schedule import Schedule
from ..schedule.analysis import driven, written
from .grid import bind_axes, join_grid, join_grid_of_texels
from .group_plan import Plan, Sharing, bare_plan, rows_to_share
from .naive_kernel import NaiveKernel
from .row_structure import rows_of
from .rule import Kernels, Rule
from .space import Choice, Domain, Misfit, Parameter, Params, Range, Space, Value
from .stages import Stage, split_channels
from .texel_tile import has_few_texels

_ALONG_NONE = -1
_NEIGHBOURS = ("rows", "parts")
_AT_ONCE = 4
"""Steps of a product that a loop of unknown length takes at once."""
_FEW = 2
"""How often a loop runs at the most that may be unrolled whole."""
_LANES = (4, 8, 16, 32, 64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class _Facts:
    kernel: NaiveKernel
    sharing: Sharing


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts] | Misfit:
    found = rows_to_share(kernel.producers, kernel.main, target)
    if isinstance(found, str):
        return Misfit(found)
    if found.most_lanes < _LANES[0]:
        return Misfit("its rows are too short to be shared")
    facts = _Facts(kernel, found)
    return Space((*_parameters(found), *_loop_parameters(facts)), facts)


def _objection(space: Space[_Facts]) -> str | None:
    kernel, sharing = space.facts.kernel, space.facts.sharing
    target = sharing.target
    if sharing.shares_loads:
        # There may be too few tiles for the device.
        packed = target.uses_textures and kernel.is_packed
        if not packed or not has_few_texels(kernel, target):
            return "its results share what they read, which suits a tile of them"
    if sharing.default() is None:
        return "its rows are short or many: a work-item for each does as well"
    return None


def _parameters(facts: Sharing) -> Sequence[Parameter]:
    variables = tuple(facts.bare.rows.divisors) or (_ALONG_NONE,)

    def along(params: Params) -> Domain:
        if params.word("neighbours") == "rows" and facts.column is not None:
            return Choice((facts.column,))
        return Choice(variables)

    def members(params: Params) -> Domain:
        variable = params.number("along")
        extent = 1 if variable == _ALONG_NONE else facts.extent(variable)
        return Range(1, min(extent, facts.most // params.number("lanes")))

    neighbours = _NEIGHBOURS if facts.column is not None else _NEIGHBOURS[1:]
    lanes = tuple(n for n in _LANES if n <= facts.most_lanes)
    return (
        Parameter("lanes", "work-items for a row", Choice(lanes)),
        Parameter("neighbours", "what neighbouring work-items take", Choice(neighbours)),
        Parameter("along", "the variable in which the rows of a group differ", along),
        Parameter("members", "rows of a group", members),
        Parameter("fan_in", "results combined between two barriers", Choice((2, 4, 8))),
    )


def _loop_parameters(facts: _Facts) -> tuple[Parameter, ...]:
    """What becomes of the loop of a product: some compilers unroll short ones and spill registers.

    A step of it multiplies a texel by four; those of other reductions have too little for that.
    """
    sharing = facts.sharing
    by_texels = any(stage.reduce_lane is not None for stage in facts.kernel.producers)
    if not (sharing.target.rolled_loops and sharing.bare.of_texels and by_texels):
        return ()
    meaning = "steps at once of a loop whose bound is hidden from the compiler, at the most"
    return (Parameter("at_once", meaning, Choice((1, 2, _AT_ONCE))),)


def _default(space: Space[_Facts]) -> Params:
    plan = space.facts.sharing.default()
    if plan is None:
        return next(space.points())
    values: dict[str, Value] = {
        "lanes": plan.lanes,
        "neighbours": "rows" if plan.columns else "parts",
        "along": _ALONG_NONE if plan.along is None else plan.along,
        "members": plan.members,
        "fan_in": plan.fan_in,
        **{each.name: _AT_ONCE for each in _loop_parameters(space.facts)},
    }
    return Params(values)


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    """Let groups of work-items compute the rows together."""
    stages, output, borders = kernel.producers, kernel.main, kernel.borders
    plan = _plan(kernel, params)
    shared = [_share(schedule, stage, plan) for stage in stages]
    nest = _arrange(schedule, output, plan)
    at_once = params.number("at_once") if "at_once" in params.values else None
    for parts in reversed(shared):
        parts.place(schedule, nest.place, at_once)
    axes = (tir.LoopKind.LocalX, tir.LoopKind.LocalY)
    of_lanes, of_members = axes[::-1] if plan.columns else axes
    if nest.place is not None:
        grid = [loop for loop in (*tir.enclosing_loops(nest.place), nest.place) if loop.size > 1]
        kinds = (tir.LoopKind.GroupX, tir.LoopKind.GroupY, tir.LoopKind.GroupZ)
        bind_axes(schedule, grid, kinds)
    for parts in shared:
        parts.bind(schedule, of_lanes, of_members)
    for loop, kind in ((nest.member, of_members), (nest.item, of_lanes)):
        if loop is not None:
            schedule.bind(loop, kind)
    if nest.texel is not None:
        schedule.vectorize(nest.texel)
    join = join_grid_of_texels if kernel.is_packed else join_grid
    join(schedule, borders, output)


def _plan(kernel: NaiveKernel, params: Params) -> Plan:
    rows = rows_of(kernel.producers, kernel.main)
    assert rows is not None, "the rule fits"
    bare = bare_plan(kernel.producers, kernel.main, rows)
    along = params.number("along")
    return replace(
        bare,
        lanes=params.number("lanes"),
        along=None if along == _ALONG_NONE else along,
        members=params.number("members"),
        columns=params.word("neighbours") == "rows",
        fan_in=params.number("fan_in"),
    )


@dataclass(frozen=True)
class _Nest:
    """The output's loops that have a meaning."""

    place: tir.ForOp | None
    """The innermost one over groups."""
    member: tir.ForOp | None
    """Over the rows of a group."""
    item: tir.ForOp | None
    """Over the work-items of a row."""
    texel: tir.ForOp | None
    """Over the lanes of a texel."""


def _arrange(schedule: Schedule, output: Stage, plan: Plan) -> _Nest:
    """Order the output's loops: groups, rows of a group, what a work-item writes of a row."""
    moves = list(output.strides.values())
    grid: list[tir.ForOp] = []
    inner: list[tuple[tir.ForOp, int]] = []
    rests: list[tir.ForOp] = []
    member: tir.ForOp | None = None
    texel: tir.ForOp | None = None
    for variable, loop in enumerate(output.loops):
        divisor = plan.rows.divisors.get(variable)
        rest = None
        if divisor is not None and divisor > 1:
            loop, rest = schedule.split(loop, divisor)
        if variable == plan.texel:
            channels, texel = schedule.split(loop if rest is None else rest, TEXEL)
            loop, rest = (channels, None) if rest is None else (loop, channels)
        if rest is not None:
            rests.append(rest)
        if divisor is None:
            inner.append((loop, variable))
            continue
        if variable == plan.along and plan.members > 1:
            loop, member = schedule.split(loop, plan.members, ("group", "row"), overlap=True)
        grid.append(loop)
    single = [loop for loop in (*grid, *(loop for loop, _ in inner)) if loop.size == 1]
    grid = [loop for loop in grid if loop.size > 1]
    inner = [(loop, variable) for loop, variable in inner if loop.size > 1]
    optional = [[] if loop is None else [loop] for loop in (member, texel)]
    nested = [*optional[0], *rests, *(loop for loop, _ in inner), *optional[1]]
    schedule.reorder(*single, *grid, *nested)
    place = next(reversed([*single, *grid]), None)
    # The channels of a group are no walk through memory: its last one is followed by another group.
    item = (
        _walk(schedule, inner, moves, plan.lanes) if inner else max(rests, key=_size, default=None)
    )
    if item is not None and item.size > plan.lanes:
        _, item = schedule.split(item, plan.lanes, ("step", "item"))
    return _Nest(place, member, item, texel)


def _size(loop: tir.ForOp) -> int:
    return loop.size


@dataclass(frozen=True)
class _Parts:
    """The stages that a reduction has become."""

    folds: list[tuple[tir.BlockOp, tir.BlockOp]]
    """A block that combines in registers, and the one that puts its result into local memory."""
    last: tir.BlockOp
    """The block whose result every work-item has."""
    texel: int | None
    """The spatial variable that walks the lanes of a texel; all of the blocks have it."""

    def place(self, schedule: Schedule, loop: tir.ForOp | None, at_once: int | None) -> None:
        """Compute them in the loop over groups, the first with steps `at_once`."""
        schedule.keep_private(self.last)
        self._vectorize(schedule, self.last, _compute_at(schedule, self.last, loop))
        for i, (fold, write) in reversed(list(enumerate(self.folds))):
            *rows, lane = _compute_at(schedule, write, loop)
            texels = self._take_texel(schedule, rows)
            schedule.reorder(*rows, lane, *texels)
            for texel in texels:
                schedule.vectorize(texel)
            inner = schedule.compute_at(fold, lane)
            self._vectorize(schedule, fold, inner, None if i else at_once)
            for buffer in written(write):
                schedule.set_scope(buffer, tir.Scope.Local)

    def _vectorize(
        self,
        schedule: Schedule,
        block: tir.BlockOp,
        loops: list[tir.ForOp],
        at_once: int | None = None,
    ) -> None:
        """Run the texels of a reduction inside of it, and four of its steps if they share one."""
        count = block.iter_kinds.count(tir.IterKind.Spatial)
        spatial, reduce = loops[:count], loops[count:]
        steps = split_channels(schedule, Stage(block, loops), reduce)
        rolled: list[tir.ForOp] = []
        for i, loop in enumerate(reduce):
            if at_once is not None and loop.size > _FEW * at_once:
                reduce[i], inner = schedule.split(loop, gcd(loop.size, at_once))
                rolled.append(reduce[i])
                steps.insert(0, inner)
        texels = self._take_texel(schedule, spatial)
        schedule.reorder(*spatial, *reduce, *steps, *texels)
        for loop in rolled:
            schedule.roll(loop)
        for loop in steps:
            schedule.unroll(loop)
        for loop in texels:
            schedule.vectorize(loop)

    def _take_texel(self, schedule: Schedule, loops: list[tir.ForOp]) -> list[tir.ForOp]:
        """The loop over the lanes of a texel, if there is one, taken out of spatial `loops`."""
        if self.texel is None:
            return []
        if loops[self.texel].size == TEXEL:
            return [loops.pop(self.texel)]
        loops[self.texel], texel = schedule.split(loops[self.texel], TEXEL)
        return [texel]

    def bind(self, schedule: Schedule, lanes: tir.LoopKind, members: tir.LoopKind) -> None:
        """Distribute them over the work-items of a group."""
        blocks = [*(write for _, write in self.folds), self.last]
        for block in blocks:
            loops = [loop for loop in tir.enclosing_loops(block) if _is_free(block, loop)]
            if block is not self.last:
                schedule.bind(loops.pop(), lanes)
            for loop in loops:
                if loop.size > 1:
                    schedule.bind(loop, members)


def _is_free(block: tir.BlockOp, loop: tir.ForOp) -> bool:
    """Whether a loop around a block is neither bound yet, nor a vector, nor over its reduction."""
    kind = loop.kind.data
    reduces = driven(block, loop.var) == {tir.IterKind.Reduce}
    return not (kind.is_bound or kind is tir.LoopKind.Vectorized or reduces)


def _compute_at(schedule: Schedule, block: tir.BlockOp, loop: tir.ForOp | None) -> list[tir.ForOp]:
    return tir.enclosing_loops(block) if loop is None else schedule.compute_at(block, loop)


def _share(schedule: Schedule, stage: Stage, plan: Plan) -> _Parts:
    """Split a reduction into what the work-items of a row do and how that is combined.

    In local memory, neighbours are next to each other.
    """
    block = stage.block
    texel: int | None = None
    if plan.of_texels:
        texel = next((p for p, v in plan.rows.of[block].items() if v == plan.texel), None)
    if not block.is_reduction:
        return _Parts([], block, texel)
    _, lane = schedule.split(
        _shared_loop(schedule, stage, plan.lanes), plan.lanes, ("step", "item")
    )
    outermost = plan.columns or plan.of_texels
    *folds, last = schedule.rfactor_tree(lane, plan.fan_in, 0 if outermost else None)
    pairs = [(fold, schedule.cache_write(fold, tir.Scope.Private)) for fold in folds]
    return _Parts(pairs, last, texel)


def _shared_loop(schedule: Schedule, stage: Stage, lanes: int) -> tir.ForOp:
    """The loop over reduce variables that the lanes share; the lanes of texels stay inside."""
    moves = list(stage.strides.values())
    reduce = [stage.loops[i] for i in stage.reduce]
    walked = stage.reduce_lane
    channels = split_channels(schedule, stage, reduce)
    if channels:
        schedule.reorder(*reduce, *channels)
    if channels and walked is not None:
        # The taps of a window stay with their channels: no division tells them apart.
        blocks = reduce[stage.reduce.index(walked)]
        if blocks.size >= lanes:
            return blocks
    return _walk(schedule, list(zip(reduce, stage.reduce, strict=True)), moves, lanes)


def _walk(
    schedule: Schedule,
    nest: Sequence[tuple[tir.ForOp, int]],
    moves: Sequence[Sequence[int | None]],
    lanes: int,
) -> tir.ForOp:
    """The innermost loop of a nest, given with the variables of the loops, for lanes to share.

    Loops that memory walks as one are one loop. Others, whose indices cost a division, are only
    where it is shorter than the lanes or a quarter of them would often have nothing to do.
    """
    loop, last = nest[-1]
    for outer, position in reversed(nest[:-1]):
        together = all(move[position] == (move[last] or 0) * loop.size for move in moves)
        busy = 4 * loop.size >= 3 * lanes * -(-loop.size // lanes)
        if outer.size > 1 and not together and loop.size >= lanes and busy:
            break
        loop = schedule.fuse(outer, loop)
    return loop


GROUP_REDUCTION = Rule(
    "group-reduction",
    1,
    Kernels(device="gpu", reductions=True),
    _fit,
    _default,
    _apply,
    objection=_objection,
)
"""Which loops the work-items of a row share follows from how memory is walked."""
