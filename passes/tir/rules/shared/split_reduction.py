"""Reductions with few results: different work-groups compute parts of each sum.

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

from .....dialects import cl, tir
from .....dialects.tir import TEXEL
from ...schedule import Schedule
from ...schedule.analysis import accesses, written
from ...schedule.combine import can_combine
from ..gpu.row_sharing import SharedRows, SharingModel
from ..naive_kernel import NaiveKernel
from ..rule import Needs, Rule
from ..space import Choice, Domains, NotApplicable, Params, Space, number
from ..stages import KernelStage
from ..texels.texel_tile import has_few_texels

_MOST_PARTS = 1024
"""Most parts of a sum; each is a slice of a buffer."""


_SHORTEST = 48
"""Steps of a part that are worth a result in memory."""
_SHARE = 0.1
"""Share of its rate that a GPU reaches with few results; parts double it."""


ALONG = number("along", "the variable of the reduction that is split")
PARTS = number("parts", "partial results for each result")


@dataclass(frozen=True)
class SplittableSums:
    """The reductions of a kernel, which all run over the same variables."""

    kernel: NaiveKernel
    stage: KernelStage
    """The first of the reductions."""

    @staticmethod
    def of(kernel: NaiveKernel) -> SplittableSums | NotApplicable:
        """Return the reductions of a kernel."""
        if kernel.func.part_of is not None:
            return NotApplicable("it is a part of a kernel that was split")
        reductions = _reductions(kernel)
        if not reductions or not all(can_combine(stage.block) for stage in reductions):
            return NotApplicable("partial results of its reductions cannot be combined")
        if len({_extents(stage) for stage in reductions}) > 1:
            return NotApplicable("its reductions run over different variables")
        if max(_extents(reductions[0])) == 1:
            return NotApplicable("its reductions are one step")
        return SplittableSums(kernel, reductions[0])

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """The extents of the variables that the reductions run over."""
        return _extents(self.stage)

    @property
    def along(self) -> int:
        """The longest of the variables, the first of several."""
        return max(range(len(self.extents)), key=lambda i: (self.extents[i], -i))

    @cached_property
    def results(self) -> int:
        """The results of a reduction."""
        return prod(self.stage.block.iter_extents[i] for i in self.stage.spatial)

    @cached_property
    def steps(self) -> int:
        """The steps of a reduction."""
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


@dataclass(frozen=True)
class SplitModel:
    """Estimates whether parts of sums in two launches save time."""

    sums: SplittableSums
    target: cl.Target

    @property
    def _wanted(self) -> float:
        """Parts that keep the device busy: tiles of results, or groups that each share a part."""
        units = self.target.device.compute_units
        each = max(self.target.machine.split_results, 1) if self.sums.shares_loads else 1
        return units * each / self.sums.results

    @cached_property
    def parts(self) -> int:
        """The number of equal parts, of whole texels, that comes closest to what is wanted."""
        sums = self.sums
        extent, position = sums.extents[sums.along], sums.stage.reduce[sums.along]
        unit = TEXEL if position == sums.stage.reduce_lane else 1
        most = min(sums.steps // _SHORTEST, _MOST_PARTS, extent)
        numbers = [n for n in range(1, most + 1) if extent % n == 0 and extent // n % unit == 0]
        return min(numbers, default=1, key=lambda n: abs(log(n / self._wanted)))

    @property
    def saves_time(self) -> bool:
        """Whether two launches take less time than one, by a rough model."""
        sums, target = self.sums, self.target
        launch = 1000 * target.machine.launch_microseconds
        if not sums.shares_loads:
            # One group for each result reads as fast as its compute unit.
            whole = 4 * sums.steps * target.device.compute_units / target.machine.bandwidth
            return whole / 2 > 2 * launch
        rate = _SHARE * target.device.compute_units * target.machine.mads_per_nanosecond
        idle = target.device.compute_units * target.machine.preferred_work_group / sums.results
        return sums.results * sums.steps / rate * (max(idle, 1.0) - 0.5) > launch


def _domains(sums: SplittableSums, target: cl.Target) -> Domains:
    longer = tuple(i for i, extent in enumerate(sums.extents) if extent > 1)

    def parts(params: Params) -> Choice:
        return Choice(tuple(_numbers_of_parts(sums.extents[params.number(ALONG.name)])))

    return {ALONG.name: Choice(longer), PARTS.name: parts}


def _reductions(kernel: NaiveKernel) -> list[KernelStage]:
    return [stage for stage in kernel.producers if stage.reduce]


def _extents(stage: KernelStage) -> tuple[int, ...]:
    return tuple(stage.block.iter_extents[i] for i in stage.reduce)


def _numbers_of_parts(extent: int) -> Iterator[int]:
    """Yield the numbers of parts, equally long except for the last, that an extent can have."""
    for parts in range(2, min(extent, _MOST_PARTS) + 1):
        if -(-extent // _length(extent, parts)) == parts:
            yield parts


def _length(extent: int, parts: int) -> int:
    return -(-extent // parts)


def _objection(space: Space[SplittableSums]) -> str | None:
    kernel, model = space.structure.kernel, space.model(SplitModel)
    if not space.target.machine.split_results:
        return "no measurement shows that the device gains from two kernels"
    if kernel.contraction is None or kernel.borders:
        return "it is not one reduction that an output reads element by element"
    if model.parts < 2:
        return "its results alone keep the device busy"
    if not model.saves_time:
        return "it is too little work for a second launch"
    if _is_shared_as_well(space.structure, space.target):
        return "work-items of a group share its sums as well"
    return None


def _is_shared_as_well(sums: SplittableSums, target: cl.Target) -> bool:
    """Return whether groups share sums whose work-items read neighbouring texels, no window."""
    kernel = sums.kernel
    has_window = sums.steps > sums.extents[sums.along]
    if not (target.uses_textures and kernel.is_packed) or has_window:
        return False
    shared = kernel.once(SharedRows.of)
    return (
        isinstance(shared, SharedRows)
        and shared.column is not None
        and SharingModel(shared, target).best is not None
        and has_few_texels(kernel, target)
    )


def _default(space: Space[SplittableSums]) -> Params:
    sums, parts = space.structure, space.model(SplitModel).parts
    if parts < 2:
        parts = next(_numbers_of_parts(sums.extents[sums.along]))
    return Params({ALONG.name: sums.along, PARTS.name: parts})


def _apply(schedule: Schedule, sums: SplittableSums, params: Params) -> None:
    """Let the parts of each reduction be a stage whose results lie in global memory."""
    along, parts = params.number(ALONG.name), params.number(PARTS.name)
    for stage in _reductions(sums.kernel):
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


def _texels(stage: KernelStage) -> list[AffineExpr] | None:
    """Return the layout of partial results in texels if the stage accesses texels, else None."""
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
    Needs(reductions=True),
    (ALONG, PARTS),
    SplittableSums.of,
    _domains,
    _default,
    _apply,
    objection=_objection,
    splits=True,
)
"""The plan contains those of the two kernels."""
