"""What was chosen and why, for people: tables on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ....dialects import nn, tir
from ....dialects.nn import LayoutAttr
from ...locations import node_name
from .candidates import is_texture
from .cost import bytes_of
from .problem import LayoutProblem, Variable
from .solver import Solution

_WIDTH = 160
"""Columns of a table that goes to a file."""


@dataclass(frozen=True)
class Transform:
    """A copy of a tensor into another layout that is left in a module."""

    name: str
    shape: tuple[int, ...]
    source: str
    target: str
    bytes: int
    """What it reads and writes, tails included."""


def layout_transforms(module: ModuleOp) -> list[Transform]:
    """The copies that only change layouts, in program order.

    These are `nn.relayout`s of what is computed, and kernels that only reshape: between packed
    layouts that moves elements, too. Constants are arranged when the model is compiled.
    """
    found: list[Transform] = []
    for op in module.walk():
        match op:
            case nn.RelayoutOp() if not isinstance(op.x.owner, nn.ConstantOp):
                found.append(_transform(op, op.x, op.result))
            case nn.FusedOp() if _only_reshapes(op):
                found.append(_transform(op, op.inputs[0], op.outputs[0]))
            case _:
                pass
    return found


def _only_reshapes(fused: nn.FusedOp) -> bool:
    return all(isinstance(op, nn.ReshapeOp | nn.YieldOp) for op in fused.body.block.ops)


def _transform(op: Operation, source: SSAValue, target: SSAValue) -> Transform:
    return Transform(
        name_of(source) if source.name_hint else node_name(op),
        nn.shape_of(target),
        layout_text(nn.layout_of(source)),
        layout_text(nn.layout_of(target)),
        sum(bytes_of(nn.tensor_type(v), nn.layout_of(v)) for v in (source, target)),
    )


def layout_text(layout: LayoutAttr | None) -> str:
    """A layout in a few words: `1 by 4, image2d [3]`."""
    if layout is None:
        return "plain"
    blocks = " and ".join(f"{axis} by {size}" for axis, size in layout.blocks)
    if not is_texture(layout) or not isinstance(layout.memory, tir.ScopeAttr):
        return f"{blocks}, buffer"
    cuts = layout.memory.separators
    kind = list(tir.ImageKind)[len(cuts)].value
    return f"{blocks}, {kind} {list(cuts)}"


def name_of(value: SSAValue) -> str:
    """The node that computes a value, else the value's own name."""
    owner = value.owner
    named = node_name(owner) if isinstance(owner, Operation) else ""
    return value.name_hint or named or "?"


def print_choices(problem: LayoutProblem, solution: Solution) -> None:
    """The chosen layout of each value, the next best one, and the sums."""
    table = _table("value", "shape", "layout", "µs", "next best", "µs", "remark")
    around = problem.problem.neighbours()
    for variable in problem.variables.values():
        if variable.work is not None:
            costs = problem.problem.local_costs(
                variable.number, solution.choice, around[variable.number]
            )
            table.add_row(*_row(variable, costs.tolist(), solution.choice[variable.number]))
    exact = "nothing is cheaper" if solution.exact else "the best found"
    table.caption = f"{solution.cost:.1f} µs in all by the model, {exact}"
    _show(f"layouts of {problem.function.sym_name.data}", table)


def _row(variable: Variable, costs: Sequence[float], choice: int) -> list[str]:
    chosen = variable.candidates[choice]
    others = [i for i in range(len(costs)) if i != choice]
    best = min(others, key=lambda i: costs[i], default=None)
    return [
        name_of(variable.value),
        "x".join(map(str, nn.shape_of(variable.value))),
        layout_text(chosen.layout),
        f"{costs[choice]:.1f}",
        "" if best is None else layout_text(variable.candidates[best].layout),
        "" if best is None else f"{costs[best]:.1f}",
        chosen.remark,
    ]


def print_transforms(module: ModuleOp) -> None:
    """The layout transforms that are left, and the bytes they move."""
    found = layout_transforms(module)
    table = _table("value", "shape", "from", "to", "bytes")
    for transform in found:
        shape = "x".join(map(str, transform.shape))
        table.add_row(
            transform.name, shape, transform.source, transform.target, f"{transform.bytes:,}"
        )
    total = sum(transform.bytes for transform in found)
    table.caption = f"{len(found)} layout transforms are left, which move {total:,} bytes"
    _show("layout transforms", table)


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE, title_justify="left", caption_justify="left")
    for column in columns:
        table.add_column(column, justify="right" if column in ("µs", "bytes") else "left")
    return table


def _show(title: str, table: Table) -> None:
    table.title = title
    width = None if Console(stderr=True).is_terminal else _WIDTH
    Console(stderr=True, width=width, markup=False, highlight=False).print(table)
