"""Choose the layout of every value between kernels: plain or in texels, buffer or image."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import cl, nn
from ...dialects.nn import LayoutAttr
from ..locations import node_name
from ..remarks import add_remarks
from .fuse import Group, form_groups, outline
from .layout.candidates import Candidate, packed_axis
from .layout.constants import ConstantLayouts, lane_of
from .layout.grouping import TEXELS
from .layout.kernels import Work, works_of_group
from .layout.problem import LayoutProblem


@dataclass(frozen=True)
class NNChooseLayoutPass(ModulePass):
    """Gives each value the layout with which the whole network costs least, on targets that use
    textures; does nothing on others.

    It forms kernels as `nn-fuse` does, for texels, and solves one problem over all of them. Kernels
    that read or write texels become regions, `nn.relayout` stands where a layout must change, and
    for constants. Kernels that stay plain stay operations, for the passes of plain layouts.
    """

    name: ClassVar[str] = "nn-choose-layout"
    explain: bool = False
    """Print the choices, their costs and those of the next best to stderr."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = cl.target_of(op)
        if not target.uses_textures:
            return
        for function in op.ops:
            if isinstance(function, func.FuncOp) and function.body.blocks:
                remarks = choose(function, target)
                add_remarks(op, remarks)


def choose(function: func.FuncOp, target: cl.Target) -> list[str]:
    """Choose and apply the layouts of a function; the remarks."""
    groups = form_groups(function.body.block.ops, TEXELS)
    problem = LayoutProblem(function, groups, target)
    solution = problem.solve()
    chosen = {
        value: variable.candidates[solution.choice[variable.number]]
        for value, variable in problem.variables.items()
    }
    plans = [
        [_plan(problem, problem.works[work.result], chosen) for work in works_of_group(group)]
        for group in groups
    ]
    application = _Application(function)
    for group, parts in zip(groups, plans, strict=True):
        if any(plan.is_packed for plan in parts):
            application.outline(group, parts)
    application.insert_transforms()
    return [remark for parts in plans for plan in parts for remark in plan.remarks]


@dataclass
class _Plan:
    """The layouts of one kernel's result and operands."""

    result: Candidate
    operands: list[LayoutAttr | None]
    remarks: list[str]

    @property
    def is_packed(self) -> bool:
        """Whether it reads or writes texels."""
        return self.result.layout is not None or any(self.operands)


def _plan(problem: LayoutProblem, work: Work, chosen: dict[SSAValue, Candidate]) -> _Plan:
    result = chosen[work.result]
    reads = problem.read_layouts(work, chosen)
    if result.layout is None and not any(reads.values()):
        return _Plan(result, [None] * len(work.inputs), [])
    node = node_name(work.ops[-1])
    remarks = [f"{node}: {result.remark}"] if result.remark else []
    packed = {value: packed_axis(layout) for value, layout in reads.items()}
    lane = lane_of(work, result.layout)
    constants = ConstantLayouts(work, lane, packed, problem.target)
    operands: list[LayoutAttr | None] = []
    for value in work.inputs:
        if value in reads:
            operands.append(reads[value])
        elif isinstance(value.owner, nn.ConstantOp):
            found = constants.of(value)
            operands.append(found.layout)
            if found.remark:
                remarks.append(f"{node}: weights: {found.remark}")
        else:
            operands.append(None)
    return _Plan(result, operands, remarks)


@dataclass
class _Application:
    """Puts the chosen layouts into a function."""

    function: func.FuncOp
    wanted: dict[Operation, list[LayoutAttr | None]] = field(
        default_factory=dict[Operation, "list[LayoutAttr | None]"]
    )
    """How regions read their operands."""
    results: dict[nn.FusedOp, LayoutAttr | None] = field(
        default_factory=dict[nn.FusedOp, "LayoutAttr | None"]
    )
    """How new regions write their result."""

    def __post_init__(self) -> None:
        for op in self.function.body.block.ops:
            if isinstance(op, nn.FusedOp | nn.RelayoutOp):
                self.wanted[op] = [nn.layout_of(value) for value in op.operands]

    def outline(self, group: Group, plans: list[_Plan]) -> None:
        """Make the regions of a group."""
        for fused, plan in zip(outline(group), plans, strict=True):
            self.wanted[fused] = plan.operands
            self.results[fused] = plan.result.layout

    def insert_transforms(self) -> None:
        """Let every consumer find its operands in the layout that it wants."""
        for fused, layout in self.results.items():
            retype(fused.outputs[0], layout)
        made: dict[tuple[SSAValue, LayoutAttr | None], SSAValue] = {}
        for op in list(self.function.body.block.ops):
            wanted = self.wanted.get(op) or [None] * len(op.operands)
            for i, (value, layout) in enumerate(zip(op.operands, wanted, strict=True)):
                if nn.layout_of(value) == layout:
                    continue
                if (value, layout) not in made:
                    made[value, layout] = relayout(value, layout, op)
                op.operands[i] = made[value, layout]


def retype(value: SSAValue, layout: LayoutAttr | None) -> SSAValue:
    """Give a result another layout."""
    return Rewriter.replace_value_with_new_type(
        value, nn.with_layout(nn.tensor_type(value), layout)
    )


def relayout(value: SSAValue, layout: LayoutAttr | None, before: Operation) -> SSAValue:
    """A value in another layout, for use in `before`."""
    op = nn.RelayoutOp(value, layout)
    op.location = value.owner.location if isinstance(value.owner, Operation) else before.location
    op.result.name_hint = value.name_hint
    Rewriter.insert_op(op, InsertPoint.before(before))
    return op.result
