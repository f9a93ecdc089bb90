"""Tables that explain the chosen layouts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ....dialects import nn, tir
from ....dialects.nn import LayoutAttr
from ....messages.explanations import ExplainedChoice, ExplainedTable
from ...locations import node_name
from .candidates import is_texture
from .cost import bytes_of
from .images import argument_layouts
from .offload import OffloadProblem, OffloadVariable, ValueState, Writer
from .problem import LayoutProblem
from .solver import FORBIDDEN, Solution


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


def layouts_table(problem: LayoutProblem, solution: Solution) -> ExplainedTable:
    """Return the chosen layout of each value, the next best one, and the total cost."""
    around = problem.problem.neighbours()
    rows: list[list[str]] = []
    for variable in problem.variables.values():
        if variable.work is not None:
            number = variable.number
            costs = problem.problem.local_costs(number, solution.choice, around[number])
            texts = [layout_text(candidate.layout) for candidate in variable.candidates]
            remark = variable.candidates[solution.choice[number]].remark
            rows.append(
                _row(variable.value, texts, costs.tolist(), solution.choice[number], remark)
            )
    return _choices(problem, [*_given(problem), *rows], solution)


def writers_table(problem: OffloadProblem, solution: Solution) -> ExplainedTable:
    """Return the table of layouts, with the writer of each value where an accelerator matters."""
    around = problem.problem.neighbours()
    rows: list[list[str]] = []
    for value, variable in problem.variables.items():
        if problem.layouts.variables[value].work is not None:
            number = variable.number
            costs = problem.problem.local_costs(number, solution.choice, around[number])
            texts = [_state_text(variable, state, problem.name) for state in variable.states]
            layout = problem.state_of(solution, value).layout
            remark = "" if layout is None else variable.layouts[layout].remark
            rows.append(_row(value, texts, costs.tolist(), solution.choice[number], remark))
    return _choices(problem.layouts, [*_given(problem.layouts), *rows], solution)


def _state_text(variable: OffloadVariable, state: ValueState, name: str) -> str:
    """Return a state in words: a layout, the accelerator called `name`, or both.

    For example `plain`; `plain, x` if accelerator x computes the value and copies it to a plain
    buffer; `x` if only the accelerator holds it.
    """
    parts = [] if state.layout is None else [layout_text(variable.layouts[state.layout].layout)]
    if state.writer is Writer.WHOLE:
        parts.append(name)
    elif state.writer is Writer.SPLIT:
        parts.append("split")
    elif state.opaque:
        parts.append(f"copy to {name}")
    return ", ".join(parts)


def _choices(
    problem: LayoutProblem, rows: Sequence[Sequence[str]], solution: Solution
) -> ExplainedTable:
    by = "measured times and the model" if problem.measured else "the model"
    exact = "nothing is cheaper" if solution.exact else "the best found"
    return ExplainedTable(
        ExplainedChoice.LAYOUTS,
        f"layouts of {problem.function.sym_name.data}",
        ("value", "shape", "layout", "us", "next best", "us", "remark"),
        rows,
        f"{solution.cost:.1f} us in all by {by}, {exact}",
    )


def _given(problem: LayoutProblem) -> list[list[str]]:
    """Return the rows of the inputs that are images, whose layout is not chosen."""
    return [
        _row(value, [layout_text(candidate.layout)], [0.0], 0, "the application's image")
        for value, candidate in argument_layouts(problem.function).items()
        if candidate.layout is not None
    ]


def _row(
    value: SSAValue, texts: Sequence[str], costs: Sequence[float], choice: int, remark: str
) -> list[str]:
    others = [i for i, cost in enumerate(costs) if i != choice and cost < FORBIDDEN / 2]
    best = min(others, key=lambda i: costs[i], default=None)
    return [
        name_of(value),
        "x".join(map(str, nn.shape_of(value))),
        texts[choice],
        f"{costs[choice]:.2f}",
        "" if best is None else texts[best],
        "" if best is None else f"{costs[best]:.2f}",
        remark,
    ]


def transforms_table(module: ModuleOp) -> ExplainedTable:
    """Return the remaining layout transforms and the bytes that they move."""
    transforms = layout_transforms(module)
    rows = [
        [t.name, "x".join(map(str, t.shape)), t.source, t.target, f"{t.bytes:,}"]
        for t in transforms
    ]
    total = sum(transform.bytes for transform in transforms)
    return ExplainedTable(
        ExplainedChoice.TRANSFORMS,
        "layout transforms",
        ("value", "shape", "from", "to", "bytes"),
        rows,
        f"{len(transforms)} layout transforms remain, which move {total:,} bytes",
    )
