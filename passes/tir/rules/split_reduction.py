"""Reductions with few results: parts of each sum are computed by work-groups of their own.

A deep reduction with few results leaves a device idle with a work-item, or a group, for each
result. The parts are results of one kernel, which any rule may schedule, and a second kernel adds
them: "split-K" of matrix products, as in NVIDIA's CUTLASS (2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir.affine import AffineExpr

from ....dialects import cl, tir
from ....dialects.tir import TEXEL
from ..schedule import Schedule
from ..schedule.analysis import accesses, written
from ..schedule.combine import can_combine
from .naive_kernel import NaiveKernel
from .rule import Kernels, Rule
from .space import Choice, Misfit, Parameter, Params, Space
from .stages import Stage

_MOST_PARTS = 1024
"""Parts of a sum at the most."""


@dataclass(frozen=True)
class _Facts:
    kernel: NaiveKernel
    target: cl.Target
    extents: Sequence[int]
    """Of the variables that the reductions run over."""

    @property
    def along(self) -> int:
        """The longest of the variables, the first of several."""
        return max(range(len(self.extents)), key=lambda i: (self.extents[i], -i))


def _fit(kernel: NaiveKernel, target: cl.Target) -> Space[_Facts] | Misfit:
    if kernel.func.part_of is not None:
        return Misfit("it is a part of a kernel that was split")
    reductions = _reductions(kernel)
    if not reductions or not all(can_combine(stage.block) for stage in reductions):
        return Misfit("partial results of its reductions cannot be combined")
    shapes = {_extents(stage) for stage in reductions}
    if len(shapes) > 1:
        return Misfit("its reductions run over different variables")
    (extents,) = shapes
    longer = tuple(i for i, extent in enumerate(extents) if extent > 1)
    if not longer:
        return Misfit("its reductions are one step")

    def parts(params: Params) -> Choice:
        return Choice(tuple(_numbers_of_parts(extents[params.number("along")])))

    parameters = (
        Parameter("along", "the variable of the reduction that is split", Choice(longer)),
        Parameter("parts", "partial results for each result", parts),
    )
    return Space(parameters, _Facts(kernel, target, extents))


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


def _default(space: Space[_Facts]) -> Params:
    facts = space.facts
    along = facts.along
    return Params({"along": along, "parts": next(_numbers_of_parts(facts.extents[along]))})


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


SPLIT_REDUCTION = Rule("split-reduction", 1, Kernels(reductions=True), _fit, _default, _apply)
"""How the two kernels run on the device is decided by the plans that each of them gets."""
