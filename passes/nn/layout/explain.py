"""Explanations of the chosen layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ....decisions import Choices, SiteKind
from ....dialects import nn, tir
from ....dialects.nn import LayoutAttr
from ....messages.explanations import Reason, Why
from ...locations import node_name
from .candidates import is_texture
from .cost import bytes_of
from .images import argument_layouts
from .offload import OffloadProblem, OffloadVariable, ValueState
from .problem import LayoutProblem
from .solver import FORBIDDEN, Problem, Solution, Table


@dataclass(frozen=True)
class LayoutTransform:
    """A copy of a tensor into another layout that remains in a module."""

    name: str
    shape: tuple[int, ...]
    source: str
    target: str
    bytes: int
    """Bytes read and written, tails included."""


def layout_transforms(module: ModuleOp) -> list[LayoutTransform]:
    """Return the copies that only change layouts, in program order.

    These are `nn.relayout`s of computed values, and kernels that only reshape, since a reshape
    between packed layouts moves elements. Constants do not count: they are arranged at compile
    time.
    """
    copies: list[LayoutTransform] = []
    for op in module.walk():
        match op:
            case nn.RelayoutOp() if not isinstance(op.x.owner, nn.ConstantOp):
                copies.append(_transform(op, op.x, op.result))
            case nn.FusedOp() if _only_reshapes(op):
                copies.append(_transform(op, op.inputs[0], op.outputs[0]))
            case _:
                pass
    return copies


def _only_reshapes(fused: nn.FusedOp) -> bool:
    return all(isinstance(op, nn.ReshapeOp | nn.YieldOp) for op in fused.body.block.ops)


def _transform(op: Operation, source: SSAValue, target: SSAValue) -> LayoutTransform:
    return LayoutTransform(
        name_of(source) if source.name_hint else node_name(op),
        nn.shape_of(target),
        layout_text(nn.layout_of(source)),
        layout_text(nn.layout_of(target)),
        sum(bytes_of(nn.tensor_type(v), nn.layout_of(v)) for v in (source, target)),
    )


def layout_text(layout: LayoutAttr | None) -> str:
    """Return a layout in words, such as `1 by 4, image2d [3]`."""
    if layout is None:
        return "plain"
    blocks = " and ".join(f"{axis} by {size}" for axis, size in layout.blocks)
    if not is_texture(layout) or not isinstance(layout.memory, tir.ScopeAttr):
        return f"{blocks}, buffer"
    cuts = layout.memory.separators
    kind = list(tir.ImageKind)[len(cuts)].value
    return f"{blocks}, {kind} {list(cuts)}"


def name_of(value: SSAValue) -> str:
    """Return the value's name, else the name of the node that computes it."""
    owner = value.owner
    named = node_name(owner) if isinstance(owner, Operation) else ""
    return value.name_hint or named or "?"


@dataclass(frozen=True)
class LayoutReasons:
    """The reasons for the layouts of a solution; all other values keep theirs."""

    problem: Problem
    choice: Sequence[int]

    def of_layout(self, problem: LayoutProblem, value: SSAValue) -> Reason:
        """Return why a value has its layout."""
        variable = problem.variables[value]
        why = Why.ESTIMATED if len(variable.candidates) > 1 else Why.RULE
        texts = [layout_text(candidate.layout) for candidate in variable.candidates]
        remark = variable.candidates[self.choice[variable.number]].remark
        return self._of(value, variable.number, texts, remark, why)

    def of_offload(self, problem: OffloadProblem, value: SSAValue) -> Reason:
        """Return why a value has its writer."""
        variable = problem.variables[value]
        costs = self.problem.local_costs(
            variable.number, self.choice, self._around[variable.number]
        ).tolist()
        times: dict[str, float | None] = {}
        for us, word in sorted(zip(costs, [s.writer for s in variable.states], strict=True)):
            times.setdefault(word, us if us < FORBIDDEN / 2 else None)
        return Reason(Why.ESTIMATED, times)

    def of_writer(self, problem: OffloadProblem, value: SSAValue) -> Reason:
        """Return why a value has its layout, and its writer."""
        variable = problem.variables[value]
        texts = [_state_text(variable, state) for state in variable.states]
        layout = variable.states[self.choice[variable.number]].layout
        remark = "" if layout is None else variable.layouts[layout].remark
        return self._of(value, variable.number, texts, remark, Why.ESTIMATED)

    def _of(
        self, value: SSAValue, number: int, texts: Sequence[str], remark: str, why: Why
    ) -> Reason:
        costs = self.problem.local_costs(number, self.choice, self._around[number]).tolist()
        times = {name: us for name, us in zip(texts, costs, strict=True) if us < FORBIDDEN / 2}
        words = ", ".join(filter(None, [_shape(nn.shape_of(value)), remark]))
        return Reason(why, times, words, texts[self.choice[number]])

    @cached_property
    def _around(self) -> list[dict[int, Table]]:
        return self.problem.neighbours()


def _shape(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


def explain_images(function: func.FuncOp, choices: Choices) -> None:
    """Explain the inputs that are images of the application."""
    for value, candidate in argument_layouts(function).items():
        if candidate.layout is not None:
            reason = Reason(
                Why.DEMANDED, {}, "the application's image", layout_text(candidate.layout)
            )
            choices.explain(SiteKind.LAYOUT, name_of(value), reason)


def cost_summary(problem: LayoutProblem, solution: Solution) -> str:
    """Return the cost of a solution in words."""
    exact = "nothing is cheaper" if solution.exact else "the best found"
    return f"{solution.cost:.1f} us in all by the model, {exact}"


def _state_text(variable: OffloadVariable, state: ValueState) -> str:
    """Return a state in words: a layout, the accelerator that computes the value, or both.

    For example `plain`; `plain, x` if accelerator x computes the value and copies it to a plain
    buffer; `x` if only the accelerator holds it.
    """
    parts = [] if state.layout is None else [layout_text(variable.layouts[state.layout].layout)]
    parts += [] if state.offer is None else [state.writer]
    copies = (name for name in state.opaque if state.whole is None or name != state.writer)
    return ", ".join([*parts, *(f"copy to {name}" for name in copies)])


def explain_transforms(module: ModuleOp, choices: Choices) -> None:
    """Explain the remaining layout transforms and the bytes that they move."""
    transforms = layout_transforms(module)
    for each in transforms:
        moved = f"{_shape(each.shape)}, copied from {each.source}, {each.bytes:,} bytes"
        reason = Reason(Why.ESTIMATED, {}, moved, each.target)
        choices.explain(SiteKind.LAYOUT, each.name, reason)
    total = sum(transform.bytes for transform in transforms)
    sentence = f"{len(transforms)} layout transforms remain, which move {total:,} bytes"
    choices.summarise(SiteKind.LAYOUT, sentence)
