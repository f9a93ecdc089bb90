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

from .....dialects import cl, tir
from .....dialects.tir import TEXEL
from ...schedule import Schedule
from ...schedule.analysis import driven, written
from ..rule import Needs, Rule
from ..shared.grid import bind_axes, join_grid, join_grid_of_texels
from ..space import (
    AnyDomain,
    Choice,
    Domains,
    NotApplicable,
    Params,
    Range,
    Space,
    number,
    word,
)
from ..stages import KernelStage, split_channels
from ..texels.texel_tile import has_few_texels
from .row_sharing import FAN_IN, RowSharing, SharedRows, SharingModel

_ALONG_NONE = -1
_NEIGHBOURS = ("rows", "parts")
_AT_ONCE = 4
"""Steps of a product that a loop of unknown length takes at once."""
_FEW = 2
"""Most iterations of a loop that is fully unrolled."""
_LANES = (4, 8, 16, 32, 64, 128, 256, 512, 1024)


LANES = number("lanes", "work-items for a row")
NEIGHBOURS = word("neighbours", "what neighbouring work-items take")
ALONG = number("along", "the variable in which the rows of a group differ")
MEMBERS = number("members", "rows of a group")
FAN_INS = number("fan_in", "results combined between two barriers")
AT_ONCE = number(
    "at_once",
    "steps at once, at the most, of a loop whose bound is hidden from the compiler; 0 hides none",
    when="kernels that multiply texels",
    absent=0,
)
"""Some compilers unroll short loops of texel products and spill registers; steps of other
reductions are too small for that."""


def _domains(shared: SharedRows, target: cl.Target) -> Domains | NotApplicable:
    most = shared.most_items(target)
    if most < FAN_IN:
        return NotApplicable("a group has no memory for partial results")
    lanes = tuple(n for n in _LANES if n <= shared.most_lanes(target))
    if not lanes:
        return NotApplicable("its rows are too short to be shared")
    variables = tuple(shared.bare.rows.divisors) or (_ALONG_NONE,)

    def along(params: Params) -> Choice:
        if params.word(NEIGHBOURS.name) == "rows" and shared.column is not None:
            return Choice((shared.column,))
        return Choice(variables)

    def members(params: Params) -> Range:
        variable = params.number(ALONG.name)
        extent = 1 if variable == _ALONG_NONE else shared.extent(variable)
        return Range(1, min(extent, most // params.number(LANES.name)))

    found: dict[str, AnyDomain] = {
        LANES.name: Choice(lanes),
        NEIGHBOURS.name: Choice(_NEIGHBOURS if shared.column is not None else _NEIGHBOURS[1:]),
        ALONG.name: along,
        MEMBERS.name: members,
        FAN_INS.name: Choice((2, 4, 8)),
    }
    if _multiplies_texels(shared):
        found[AT_ONCE.name] = Choice((0, 1, 2, _AT_ONCE))
    return found


def _multiplies_texels(shared: SharedRows) -> bool:
    return shared.bare.of_texels and any(
        stage.reduce_lane is not None for stage in shared.kernel.producers
    )


def _objection(space: Space[SharedRows]) -> str | None:
    shared, target = space.structure, space.target
    if shared.shares_loads:
        # There may be too few tiles for the device.
        packed = target.uses_textures and shared.kernel.is_packed
        if not packed or not has_few_texels(shared.kernel, target):
            return "its results share what they read, which suits a tile of them"
    if space.model(SharingModel).best is None:
        return "its rows are short or many: a work-item for each does as well"
    return None


def _default(space: Space[SharedRows]) -> Params:
    best = space.model(SharingModel).best
    hides = {AT_ONCE.name: _AT_ONCE if space.target.compiler.rolled_loops else 0}
    loops = hides if _multiplies_texels(space.structure) else {}
    if best is None:
        return space.nearest(Params({**loops}))
    return Params(
        {
            LANES.name: best.lanes,
            NEIGHBOURS.name: "rows" if best.columns else "parts",
            ALONG.name: _ALONG_NONE if best.along is None else best.along,
            MEMBERS.name: best.members,
            FAN_INS.name: best.fan_in,
            **loops,
        }
    )


def _apply(schedule: Schedule, structure: SharedRows, params: Params) -> None:
    """Let groups of work-items compute the rows together."""
    kernel, sharing = structure.kernel, _sharing(structure, params)
    shared = [_share(schedule, stage, sharing) for stage in kernel.producers]
    nest = _arrange(schedule, kernel.main, sharing)
    for parts in reversed(shared):
        parts.place(schedule, nest.place, params.number(AT_ONCE.name))
    axes = (tir.LoopKind.LocalX, tir.LoopKind.LocalY)
    of_lanes, of_members = axes[::-1] if sharing.columns else axes
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
    join(schedule, kernel.borders, kernel.main)


def _sharing(structure: SharedRows, params: Params) -> RowSharing:
    along = params.number(ALONG.name)
    return replace(
        structure.bare,
        lanes=params.number(LANES.name),
        along=None if along == _ALONG_NONE else along,
        members=params.number(MEMBERS.name),
        columns=params.word(NEIGHBOURS.name) == "rows",
        fan_in=params.number(FAN_INS.name),
    )


@dataclass(frozen=True)
class SharedLoops:
    """The output's loops that have a meaning."""

    place: tir.ForOp | None
    """The innermost one over groups."""
    member: tir.ForOp | None
    """Over the rows of a group."""
    item: tir.ForOp | None
    """Over the work-items of a row."""
    texel: tir.ForOp | None
    """Over the lanes of a texel."""


def _arrange(schedule: Schedule, output: KernelStage, sharing: RowSharing) -> SharedLoops:
    """Order the output's loops: groups, rows of a group, what a work-item writes of a row."""
    moves = list(output.strides.values())
    grid: list[tir.ForOp] = []
    inner: list[tuple[tir.ForOp, int]] = []
    rests: list[tir.ForOp] = []
    member: tir.ForOp | None = None
    texel: tir.ForOp | None = None
    for variable, loop in enumerate(output.loops):
        divisor = sharing.rows.divisors.get(variable)
        rest = None
        if divisor is not None and divisor > 1:
            loop, rest = schedule.split(loop, divisor)
        if variable == sharing.texel:
            channels, texel = schedule.split(loop if rest is None else rest, TEXEL)
            loop, rest = (channels, None) if rest is None else (loop, channels)
        if rest is not None:
            rests.append(rest)
        if divisor is None:
            inner.append((loop, variable))
            continue
        if variable == sharing.along and sharing.members > 1:
            loop, member = schedule.split(loop, sharing.members, ("group", "row"), overlap=True)
        grid.append(loop)
    single = [loop for loop in (*grid, *(loop for loop, _ in inner)) if loop.size == 1]
    grid = [loop for loop in grid if loop.size > 1]
    inner = [(loop, variable) for loop, variable in inner if loop.size > 1]
    optional = [[] if loop is None else [loop] for loop in (member, texel)]
    nested = [*optional[0], *rests, *(loop for loop, _ in inner), *optional[1]]
    schedule.reorder(*single, *grid, *nested)
    place = next(reversed([*single, *grid]), None)
    # The channels of a group are not contiguous: another group follows its last one.
    item = (
        _walk(schedule, inner, moves, sharing.lanes)
        if inner
        else max(rests, key=_size, default=None)
    )
    if item is not None and item.size > sharing.lanes:
        _, item = schedule.split(item, sharing.lanes, ("step", "item"))
    return SharedLoops(place, member, item, texel)


def _size(loop: tir.ForOp) -> int:
    return loop.size


@dataclass(frozen=True)
class ReductionParts:
    """The stages that a reduction has become."""

    folds: list[tuple[tir.BlockOp, tir.BlockOp]]
    """A block that combines in registers, and the one that puts its result into local memory."""
    last: tir.BlockOp
    """The block whose result every work-item has."""
    texel: int | None
    """The spatial variable that walks the lanes of a texel; all of the blocks have it."""

    def place(self, schedule: Schedule, loop: tir.ForOp | None, at_once: int) -> None:
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
            self._vectorize(schedule, fold, inner, 0 if i else at_once)
            for buffer in written(write):
                schedule.set_scope(buffer, tir.Scope.Local)

    def _vectorize(
        self,
        schedule: Schedule,
        block: tir.BlockOp,
        loops: list[tir.ForOp],
        at_once: int = 0,
    ) -> None:
        """Run the texels of a reduction inside of it, and four of its steps if they share one."""
        count = block.iter_kinds.count(tir.IterKind.Spatial)
        spatial, reduce = loops[:count], loops[count:]
        steps = split_channels(schedule, KernelStage(block, loops), reduce)
        rolled: list[tir.ForOp] = []
        for i, loop in enumerate(reduce):
            if at_once and loop.size > _FEW * at_once:
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
        """Return the loop over the lanes of a texel, if there is one, taken out of `loops`."""
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
    """Return whether a loop is not bound, vectorized or part of a block's reduction."""
    kind = loop.kind.data
    reduces = driven(block, loop.var) == {tir.IterKind.Reduce}
    return not (kind.is_bound or kind is tir.LoopKind.Vectorized or reduces)


def _compute_at(schedule: Schedule, block: tir.BlockOp, loop: tir.ForOp | None) -> list[tir.ForOp]:
    return tir.enclosing_loops(block) if loop is None else schedule.compute_at(block, loop)


def _share(schedule: Schedule, stage: KernelStage, sharing: RowSharing) -> ReductionParts:
    """Split a reduction into the parts of a row's work-items and their combination.

    In local memory, neighbours are next to each other.
    """
    block = stage.block
    texel: int | None = None
    if sharing.of_texels:
        texel = next((p for p, v in sharing.rows.of[block].items() if v == sharing.texel), None)
    if not block.is_reduction:
        return ReductionParts([], block, texel)
    _, lane = schedule.split(
        _shared_loop(schedule, stage, sharing.lanes), sharing.lanes, ("step", "item")
    )
    outermost = sharing.columns or sharing.of_texels
    *folds, last = schedule.rfactor_tree(lane, sharing.fan_in, 0 if outermost else None)
    pairs = [(fold, schedule.cache_write(fold, tir.Scope.Private)) for fold in folds]
    return ReductionParts(pairs, last, texel)


def _shared_loop(schedule: Schedule, stage: KernelStage, lanes: int) -> tir.ForOp:
    """Return the loop over reduce variables that the lanes share; texels stay inside."""
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
    """Return the innermost loop of a nest, given with the variables of the loops, to be shared.

    Loops that are contiguous in memory become one. Others, whose indices cost a division, are fused
    only if the loop is shorter than the lanes or would often leave a quarter of them idle.
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
    Needs(device="gpu", reductions=True),
    (LANES, NEIGHBOURS, ALONG, MEMBERS, FAN_INS, AT_ONCE),
    SharedRows.of,
    _domains,
    _default,
    _apply,
    objection=_objection,
)
"""The memory layout determines which loops the work-items of a row share."""
