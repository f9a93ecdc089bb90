"""The layouts of a function as one problem: a variable for each value between kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ....dialects import cl, nn
from ....dialects.offload import OffloadCallOp
from ...memory_budget import MemoryBudget, MemorySaving
from ..fuse import Group
from .candidates import PLAIN, Candidate
from .cost import LayoutCostModel
from .images import argument_layouts, result_layouts
from .kernels import Work, work_lane, works_of_group
from .measured import MeasuredTimes, Variant, main_operand
from .savings import node_of, smallest
from .solver import FORBIDDEN, Problem, Solution, Table, solve
from .tables import CostTables

_LEAST = 1e-3
"""Microseconds; a kernel that the model says to be free has no ratio."""


@dataclass
class LayoutVariable:
    """A value between kernels."""

    value: SSAValue
    candidates: list[Candidate]
    readable: list[Candidate]
    """The layouts in which kernels may read it, as it lies or transformed. If images are preferred
    and one fits, only images: a network's input is packed once, not read plain by every user.
    """
    number: int = 0
    work: Work | None = None
    """The kernel that writes it; None where its layout is given."""


@dataclass
class LayoutProblem:
    """The choice of a layout for each value that makes the sum of costs least.

    Arguments and results of the function are plain, but for those that the application gives as
    images, and so are those of its calls of graphs. Constants are not variables: their layouts
    follow from those of their kernels.
    """

    function: func.FuncOp
    groups: Sequence[Group]
    target: cl.Target
    budget: MemoryBudget | None = None
    measured: MeasuredTimes | None = None
    """Times that replace those of the model."""
    ratio: float = 1.0
    """What the model's other times are multiplied by, so that they compare with measured ones."""
    is_alone: bool = False
    """Whether arguments and results lie as the kernels like them: the function is cut out of a
    network."""
    variables: dict[SSAValue, LayoutVariable] = field(
        default_factory=dict[SSAValue, LayoutVariable]
    )
    works: dict[SSAValue, Work] = field(default_factory=dict[SSAValue, Work])
    problem: Problem = field(default_factory=Problem)

    def __post_init__(self) -> None:
        self.tables = CostTables(LayoutCostModel(self.target, self.ratio))
        self._corrected: dict[Work, Table] = {}
        self._axes: dict[SSAValue, list[int]] = {}
        works = [work for group in self.groups for work in works_of_group(group)]
        self._find_axes(works)
        self.returned = self._find_returned()
        """The values that the caller or a graph receives, and the layouts it wants there."""
        for value, given in argument_layouts(self.function).items():
            self._add(value, self.candidates_for(value) if self.is_alone else [given])
        for op in self.function.body.block.ops:
            if isinstance(op, nn.FusedOp | nn.RelayoutOp | OffloadCallOp):
                for value in op.results:
                    self._add(value, [Candidate(nn.layout_of(value))])
        for work in works:
            self._add_work(work)

    def solve(self) -> Solution:
        """The cheapest choice of candidates."""
        return solve(self.problem)

    def _find_returned(self) -> dict[SSAValue, list[Candidate]]:
        returned: dict[SSAValue, list[Candidate]] = {}
        if self.is_alone:
            return returned
        for op in self.function.body.block.ops:
            if isinstance(op, func.ReturnOp | OffloadCallOp):
                wanted = result_layouts(self.function) if isinstance(op, func.ReturnOp) else None
                for value, candidate in zip(
                    op.operands, wanted or [PLAIN] * len(op.operands), strict=True
                ):
                    known = returned.setdefault(value, [])
                    if candidate not in known:
                        known.append(candidate)
        return returned

    def _add(
        self, value: SSAValue, possible: list[Candidate], must_save: bool = False
    ) -> LayoutVariable:
        readable = possible if must_save else self.candidates_for(value)
        are_images = all(candidate.is_texture for candidate in readable)
        own = [c for c in possible if c.is_texture or not are_images]
        layouts = {candidate.layout for candidate in own}
        readable = [*own, *(c for c in readable if c.layout not in layouts)]
        variable = LayoutVariable(value, possible, readable)
        variable.number = self.problem.add([0.0] * len(possible))
        self.variables[value] = variable
        return variable

    def candidates_for(self, value: SSAValue) -> list[Candidate]:
        """The layouts that a kernel may write a value in."""
        # A function of somebody else's may have arguments that are no tensors: it is refused later.
        is_tensor = isinstance(value.type, TensorType)
        if not self.target.lanes or not is_tensor:
            return [PLAIN]
        return self.tables.candidates(nn.plain_type(value.type), self._axes.get(value))

    def _find_axes(self, works: Iterable[Work]) -> None:
        """Restrict the packable axes of the operands and results of contractions and windows."""
        for work in works:
            lane = work_lane(work)
            if lane is not None:
                self._axes[work.result] = [lane]
        for work in works:
            for value in work.over_channels:
                self._axes[value] = [1]
        for value, axes in self._axes.items():
            shape = nn.shape_of(value)
            # Of a tensor of rank 1, as a resize may have, there are no channels.
            self._axes[value] = [a for a in axes if a < len(shape) and shape[a] > 1]

    def _add_work(self, work: Work) -> None:
        value, type_ = work.result, nn.tensor_type(work.result)
        possible = self.candidates_for(value)
        wanted = [*self.returned.get(value, []), *([PLAIN] if work.is_view else [])]
        layouts = {candidate.layout for candidate in possible}
        possible = [*possible, *(c for c in wanted if c.layout not in layouts)]
        must_save = self._must(MemorySaving.LAYOUT, work)
        if must_save:
            possible = smallest(type_, possible, self.target)
        variable = self._add(value, possible, must_save)
        variable.work = self.works[value] = work
        alone = self.problem.costs[variable.number]
        if not work.is_view:
            alone = alone + self.tables.write(type_, possible)
        if value in self.returned:
            alone = alone + self.tables.transform(type_, possible, self.returned[value]).sum(axis=1)
        self.problem.costs[variable.number] = alone
        for operand in work.inputs:
            source = self.variables.get(operand)
            if source is not None:
                # The kernel reads the operand as it lies, or a transformed copy.
                table = self.detours(work, source).min(axis=1)
                self.problem.relate(source.number, variable.number, table)

    def detours(self, work: Work, source: LayoutVariable) -> Table:
        """The costs [layout of the operand, layout that the kernel reads, layout of the result]."""
        readable = readable_by(work, source)
        results = self.variables[work.result].candidates
        type_ = nn.plain_type(source.value.type)
        transforms = self.tables.transform(type_, source.candidates, readable)
        reads = self.tables.read(work, source.value, readable, results)
        if self.measured and source.value is main_operand(work, self.variables):
            if work not in self._corrected:
                self._corrected[work] = self._corrections(work, self.measured)
            reads = reads + self._corrected[work]
        if self._must(MemorySaving.COPY, work):
            held = [[a.layout != b.layout for b in readable] for a in source.candidates]
            transforms = transforms + FORBIDDEN * np.array(held)
        return transforms[:, :, None] + reads[None, :, :]

    def variants(self, work: Work) -> Iterator[tuple[Variant, float]]:
        """The kernel in each layout of its main operand and of its result, with the model's cost.

        The operand's layout varies slowest. All other operands lie as the model likes them best.
        The cost includes reading constants, which no layout changes.
        """
        main = main_operand(work, self.variables)
        assert main is not None
        type_, results = nn.tensor_type(work.result), self.variables[work.result].candidates
        others = [v for v in dict.fromkeys(work.inputs) if v in self.variables and v is not main]
        costs = {value: self._reads(work, value) for value in (main, *others)}
        writes = np.zeros(len(results)) if work.is_view else self.tables.write(type_, results)
        constants = [nn.tensor_type(v) for v in work.inputs if nn.constant_of(v) is not None]
        fixed = sum(self.tables.model.traffic(type_, None) for type_ in constants)
        for i in range(len(readable_by(work, self.variables[main]))):
            for j, result in enumerate(results):
                places = {main: i} | {value: int(costs[value][:, j].argmin()) for value in others}
                layouts = {
                    value: readable_by(work, self.variables[value])[place].layout
                    for value, place in places.items()
                }
                operands = tuple(layouts.get(value) for value in work.inputs)
                cost = writes[j] + sum(costs[value][place, j] for value, place in places.items())
                yield Variant(work, operands, result.layout), float(cost + fixed)

    def _reads(self, work: Work, value: SSAValue) -> Table:
        """What the model says of reading an operand [layout of it, layout of the result]."""
        readable = readable_by(work, self.variables[value])
        return self.tables.read(work, value, readable, self.variables[work.result].candidates)

    def _corrections(self, work: Work, measured: MeasuredTimes) -> Table:
        """What measured times add to the model [layout of the main operand, of the result].

        Where nobody measured, the model is as wrong as it is where somebody did. A kernel that does
        not run is forbidden.
        """
        found = list(self.variants(work))
        model = np.array([cost for _, cost in found])
        times = np.array([measured.get(variant.key, np.nan) for variant, _ in found])
        known = np.isfinite(times)
        wrong = median_ratio(times[known], model[known]) if known.any() else 1.0
        times = np.where(np.isnan(times), wrong * model, np.minimum(times, FORBIDDEN))
        return (times - model).reshape(-1, len(self.variables[work.result].candidates))

    def _must(self, kind: MemorySaving, work: Work) -> bool:
        return self.budget is not None and self.budget.must(kind, node_of(work))


def median_ratio(times: Table, model: Table) -> float:
    """By how much kernels took longer than the model says; neither may be empty."""
    return float(np.median(times / np.maximum(model, _LEAST)))


def readable_by(work: Work, source: LayoutVariable) -> list[Candidate]:
    """The layouts in which a kernel may read a value; plain if it is a view, which is then free."""
    add_plain = work.is_view and PLAIN not in source.readable
    return [*source.readable, PLAIN] if add_plain else source.readable
