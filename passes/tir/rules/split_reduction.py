"""Reductions with few results: parts of each sum are computed by work-groups of their own.

A deep reduction with few results leaves a device idle with a work-item, or a group, for each
result. The parts are results of one kernel, which any rule may schedule, and a second kernel adds
them: "split-K" of matrix products, as in NVIDIA's CUTLASS (2017).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log, prod

from xdsl.ir.affine import AffineExpr

from ....dialects import cl, tir
from ....dialects.tir import TEXEL
from ..schedule import Schedule
from ..schedule.analysis import accesses, written
from ..schedule.combine import can_combine
from .group_plan import rows_to_share
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Parameter, Params, Space
from .stages import Stage
from .texel_tile import has_few_texels

_MOST_PARTS = 1024
"""Parts of a sum at the most."""


_SHORTEST = 48
"""Steps of a part that are worth a result in memory."""
_SHARE = 0.1
"""The share of its rate at which a GPU computes few results; with parts it is twice as much."""


@dataclass(frozen=True)
class _Facts:
    kernel: NaiveKernel
    target: cl.Target
    stage: Stage
    """The first of the reductions."""

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """Of the variables that the reductions run over."""
        return _extents(self.stage)

    @property
    def along(self) -> int:
        """The longest of the variables, the first of several."""
        return max(range(len(self.extents)), key=lambda i: (self.extents[i], -i))

    @cached_property
    def results(self) -> int:
        return prod(self.stage.block.iter_extents[i] for i in self.stage.spatial)

    @cached_property
    def steps(self) -> int:
        return prod(self.extents)

    @cached_property
    def shares_loads(self) -> bool:
        """Whether results share all that they read, so that tiles of them read less."""
        stored, extents = written(self.stage.block), self.stage.block.iter_extents
        return not any(
            all(extents[i] == 1 or step != 0 for i, step in enumerate(steps))
            for access, steps in self.stage.strides.items()
            if access.memref not in stored
        )

    @property
    def wanted(self) -> float:
        """Parts that keep the device busy: tiles of results, or groups that each share a part."""
        units = self.target.compute_units
        each = max(self.target.split_results, 1) if self.shares_loads else 1
        return units * each / self.results

    @cached_property
    def parts(self) -> int:
        """The number of equal parts, of whole texels, that comes closest to what is wanted."""
        extent, position = self.extents[self.along], self.stage.reduce[self.along]
        unit = TEXEL if position == self.stage.reduce_lane else 1
        most = min(self.steps // _SHORTEST, _MOST_PARTS, extent)
        numbers = [n for n in range(1, most + 1) if extent % n == 0 and extent // n % unit == 0]
        return min(numbers, default=1, key=lambda n: abs(log(n / self.wanted)))

    @property
    def saves_time(self) -> bool:
        """Whether two launches take less time than one, by a rough model."""
        target = self.target
        launch = 1000 * target.launch_microseconds
        if not self.shares_loads:
            # One group for each result reads as fast as its compute unit.
            whole = 4 * self.steps * target.compute_units / target.bandwidth
            return whole / 2 > 2 * launch
        rate = _SHARE * target.compute_units * target.mads_per_nanosecond
        idle = target.compute_units * target.preferred_work_group / self.results
        return self.results * self.steps / rate * (max(idle, 1.0) - 0.5) > launch


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts] | Misfit:
    if kernel.func.part_of is not None:
        return Misfit("it is a part of a kernel that was split")
    reductions = _reductions(kernel)
    if not reductions or not all(can_combine(stage.block) for stage in reductions):
        return Misfit("partial results of its reductions cannot be combined")
    shapes = {_extents(stage) for stage in reductions}
    if len(shapes) > 1:
        return Misfit("its reductions run over different variables")
    facts = _Facts(kernel, target, reductions[0])
    extents = facts.extents
    longer = tuple(i for i, extent in enumerate(extents) if extent > 1)
    if not longer:
        return Misfit("its reductions are one step")

    def parts(params: Params) -> Choice:
        return Choice(tuple(_numbers_of_parts(extents[params.number("along")])))

    parameters = (
        Parameter("along", "the variable of the reduction that is split", Choice(longer)),
        Parameter("parts", "partial results for each result", parts),
    )
    return Space(parameters, facts)


def _reductions(kernel: NaiveKernel) -> list[Stage]:
    return [stage for stage in kernel.producers if stage.reduce]


def _extents(stage: Stage) -> tuple[int, ...]:
    return tuple(stage.block.iter_extents[i] for i in stage.reduce)


def _numbers_of_parts(extent: int) -> Iterator[int]:
    """How many equally long parts, but for the last, an extent can have."""
    for parts in range(2, min(extent, _MOST_PARTS) + 1):
        if -(-extent // _length(extent, parts)) == parts:
            yield parts


def _length(extent: int, parts: int) -> int:
    return -(-extent // parts)


def _objection(space: Space[_Facts]) -> str | None:
    facts, kernel = space.facts, space.facts.kernel
    if not facts.target.split_results:
        return "the device was not measured to gain by two kernels"
    if kernel.contraction is None or kernel.borders:
        return "it is not one reduction that an output reads element by element"
    if facts.parts < 2:
        return "its results alone keep the device busy"
    if not facts.saves_time:
        return "it is too little work for a second launch"
    if _is_shared_as_well(facts):
        return "work-items of a group share its sums as well"
    return None


def _is_shared_as_well(facts: _Facts) -> bool:
    """Whether groups share sums whose work-items read neighbouring texels, without a window."""
    kernel, target = facts.kernel, facts.target
    if not (target.uses_textures and kernel.is_packed) or facts.steps > facts.extents[facts.along]:
        return False
    sharing = rows_to_share(kernel.producers, kernel.main, target)
    return (
        not isinstance(sharing, str)
        and sharing.column is not None
        and sharing.default() is not None
        and has_few_texels(kernel, target)
    )


def _default(space: Space[_Facts]) -> Params:
    facts = space.facts
    parts = facts.parts if facts.parts > 1 else next(_numbers_of_parts(facts.extents[facts.along]))
    return Params({"along": facts.along, "parts": parts})


def _apply(schedule: Schedule, kernel: NaiveKernel, params: Params) -> None:
    """Let the parts of each reduction be a stage whose results lie in global memory."""
    along, parts = params.number("along"), params.number("parts")
    for stage in _reductions(kernel):
        layout = _texels(stage)
        loop = stage.loops[stage.reduce[along]]
        outer, _ = schedule.split(loop, _length(loop.size, parts))
        partial, _ = schedule.rfactor_tree(outer, parts, 0)
        write = schedule.cache_write(partial, tir.Scope.Private)
        for buffer in written(write):
            schedule.set_scope(buffer, tir.Scope.Global)
        if layout is not None:
            for buffer in written(write):
                schedule.transform_layout(buffer, layout)


def _texels(stage: Stage) -> list[AffineExpr] | None:
    """The layout of partial results in texels, where the stage reads such; else None."""
    lane, extents = stage.lane, stage.block.iter_extents
    if lane is None or extents[lane] % TEXEL:
        return None
    (store, *_) = stage.block.stores()
    indices = next(found for op, found in accesses(stage.block, store.memref) if op is store)
    if AffineExpr.dimension(lane) not in indices:
        return None
    walked = 1 + indices.index(AffineExpr.dimension(lane))
    dims: list[AffineExpr] = [AffineExpr.dimension(i) for i in range(1 + len(indices))]
    channels = dims[walked]
    dims[walked] = channels // TEXEL
    return [*dims, channels % TEXEL]


SPLIT_REDUCTION = Rule(
    "split-reduction",
    1,
    Kernels(reductions=True),
    _fit,
    _default,
    _apply,
    objection=_objection,
)
"""How the two kernels run on the device is decided by the plans that each of them gets."""
