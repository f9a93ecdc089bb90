"""The layouts of a function as one problem, with a variable for each value between kernels."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ....dialects import cl, nn
from ....dialects.nn import LayoutAttr
from ....dialects.offload import OffloadCallOp
from ..fuse import Group
from .candidates import PLAIN, Candidate
from .cost import LayoutCostModel
from .images import argument_layouts, result_layouts
from .kernels import Work, work_lane, works_of_group
from .solver import FORBIDDEN, Problem, Solution, Table, solve
from .tables import CostTables


@dataclass
class LayoutVariable:
    """A value between kernels."""

    value: SSAValue
    candidates: list[Candidate]
    readable: list[Candidate]
    """The layouts in which kernels may read the value, directly or transformed.

    If images are preferred and one fits, only images: a network's input is packed once, not read
    plain by every user.
    """
    number: int = 0
    work: Work | None = None
    """The kernel that writes the value; None if its layout is given."""
    is_plain_offered: bool = False
    """Whether the last candidate, plain, is one only because an accelerator may read the value."""


@dataclass
class LayoutProblem:
    """The choice of a layout for each value that minimises the sum of costs.

    Arguments and results of the function, and of its calls of graphs, are plain, except for images
    that the application passes. Constants are not variables: their layouts follow from their
    kernels. A kernel writes each result in one layout. Readers share a copy in another layout, but
    each of them is charged for it: shared costs changed no choice for 14 networks on 7 targets.
    """

    function: func.FuncOp
    groups: Sequence[Group]
    target: cl.Target
    demanded: Mapping[SSAValue, LayoutAttr | None] = field(
        default_factory=dict[SSAValue, "LayoutAttr | None"]
    )
    """The only layout that a value may have."""
    stored: Collection[SSAValue] = ()
    """Results of kernels that may not copy their operands into other layouts."""
    offered: Collection[SSAValue] = ()
    """Values that an accelerator may read from plain buffers, so that kernels may write these."""
    variables: dict[SSAValue, LayoutVariable] = field(
        default_factory=dict[SSAValue, LayoutVariable]
    )
    works: dict[SSAValue, Work] = field(default_factory=dict[SSAValue, Work])
    problem: Problem = field(default_factory=Problem)

    def __post_init__(self) -> None:
        self.tables = CostTables(LayoutCostModel(self.target))
        self._axes: dict[SSAValue, list[int]] = {}
        works = [work for group in self.groups for work in works_of_group(group)]
        self._find_axes(works)
        most = self.target.device.max_read_images
        self._excess = {value for work in works for value in work.inputs[most:]}
        """Values that no image may hold: one of their readers may read all its images already."""
        self.returned = self._find_returned()
        """The values that the caller, a loop or a graph receives, with the layouts required."""
        for value, candidate in argument_layouts(self.function).items():
            self._add(value, [candidate])
        for op in self.function.body.block.ops:
            if isinstance(op, nn.FusedOp | nn.RelayoutOp | nn.LoopOp | OffloadCallOp):
                for value in op.results:
                    self._add(value, [Candidate(nn.layout_of(value))])
        for work in works:
            self._add_work(work)

    def demanding(
        self, demanded: Mapping[SSAValue, LayoutAttr | None], stored: Collection[SSAValue] = ()
    ) -> LayoutProblem:
        """Return the problem in which some values have these layouts.

        Kernels that compute the values in `stored` read their operands without copies.
        """
        return LayoutProblem(
            self.function, self.groups, self.target, demanded, stored, self.offered
        )

    def solve(self) -> Solution:
        """Return the cheapest choice of candidates."""
        return solve(self.problem)

    def _find_returned(self) -> dict[SSAValue, list[Candidate]]:
        returned: dict[SSAValue, list[Candidate]] = {}
        for op in self.function.body.block.ops:
            if isinstance(op, func.ReturnOp | nn.LoopOp | OffloadCallOp):
                wanted = result_layouts(self.function) if isinstance(op, func.ReturnOp) else None
                for value, candidate in zip(
                    op.operands, wanted or [PLAIN] * len(op.operands), strict=True
                ):
                    required = returned.setdefault(value, [])
                    if candidate not in required:
                        required.append(candidate)
        return returned

    def _add(self, value: SSAValue, possible: list[Candidate]) -> LayoutVariable:
        readable = self.candidates_for(value)
        if value in self.demanded:
            layout = self.demanded[value]
            possible = [each for each in possible if each.layout == layout]
            if not possible:
                # Images are preferred: kernels that read a plain value copy it into one.
                possible = readable = [Candidate(layout)]
        are_images = all(candidate.is_texture for candidate in readable)
        direct = [c for c in possible if c.is_texture or not are_images]
        layouts = {candidate.layout for candidate in direct}
        readable = [*direct, *(c for c in readable if c.layout not in layouts)]
        variable = LayoutVariable(value, possible, readable)
        variable.number = self.problem.add([0.0] * len(possible))
        self.variables[value] = variable
        return variable

    def candidates_for(self, value: SSAValue) -> list[Candidate]:
        """Return the layouts in which a kernel may write a value."""
        # Another compiler's function may have arguments that are not tensors; it is refused later.
        is_tensor = isinstance(value.type, TensorType)
        if not self.target.lanes or not is_tensor:
            return [PLAIN]
        type_, axes = nn.plain_type(value.type), self._axes.get(value)
        return self.tables.candidates(type_, axes, is_excess=value in self._excess)

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
            # A tensor of rank 1, such as an operand of a resize, has no channel axis.
            self._axes[value] = [a for a in axes if a < len(shape) and shape[a] > 1]

    def _add_work(self, work: Work) -> None:
        value, type_ = work.result, nn.tensor_type(work.result)
        possible = self.candidates_for(value)
        wanted = [*self.returned.get(value, []), *([PLAIN] if work.is_view else [])]
        layouts = {candidate.layout for candidate in possible}
        possible = [*possible, *(c for c in wanted if c.layout not in layouts)]
        is_offered = value in self.offered and PLAIN not in possible
        variable = self._add(value, [*possible, PLAIN] if is_offered else possible)
        variable.is_plain_offered = is_offered and value not in self.demanded
        possible = variable.candidates
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
                # The kernel reads the operand directly or through a transformed copy.
                table = self.detours(work, source).min(axis=1)
                self.problem.relate(source.number, variable.number, table)

    def detours(self, work: Work, source: LayoutVariable) -> Table:
        """Return costs [operand's layout, layout that the kernel reads, result's layout]."""
        readable = self.readable_by(work, source)
        results = self.variables[work.result].candidates
        type_ = nn.plain_type(source.value.type)
        transforms = self.tables.transform(type_, source.candidates, readable)
        reads = self.tables.read(work, source.value, readable, results)
        if work.result in self.stored:
            transforms = FORBIDDEN * (1.0 - np.eye(len(readable)))
        return transforms[:, :, None] + reads[None, :, :]

    def readable_by(self, work: Work, source: LayoutVariable) -> list[Candidate]:
        """Return the layouts in which a kernel may read a value.

        A view may also read it plain, which is free.
        """
        if work.result in self.stored:
            return source.candidates
        add_plain = work.is_view and PLAIN not in source.readable
        return [*source.readable, PLAIN] if add_plain else source.readable
