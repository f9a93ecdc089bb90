"""The kernels of a module's regions, which equal regions share."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ....dialects import nn, tir
from ...free_names import free_name
from ...launch_comments import with_launches
from ...locations import kind_of, node_name
from ..roles import role_of, starts_kernel
from ..structure import structure
from .layouts import copy_comment
from .run_conditions import LaunchCondition

_MOST_NODES = 4
"""Most node names in a kernel's comment."""


class KernelTable:
    """The kernels of a module: one for each distinct region."""

    def __init__(self, taken: Container[str] = ()) -> None:
        """Create an empty table; `taken` are the names of other symbols of the module."""
        self._taken = taken
        self._kernels: dict[tuple[object, ...], _Shared] = {}

    def name_of(
        self,
        fused: nn.FusedOp,
        rows: Iterable[int] = (),
        conditions: Sequence[LaunchCondition] = (),
    ) -> str:
        """Return the name of the kernel that computes a region.

        `rows` are the arguments that are rows of buffers at this launch. The kernel runs on
        `conditions`, which are arguments between the inputs and the outputs.
        """
        key = *_key(fused), *((each.type, each.wanted) for each in conditions)
        shared = self._kernels.get(key)
        if shared is None:
            name = free_name(f"{kernel_stem(fused)}_{len(self._kernels)}", self._taken)
            shared = self._kernels[key] = _Shared(name, fused, [], conditions)
        shared.launches += 1
        shared.rows.update(rows)
        shared.nodes += _node_names(fused)
        return shared.name

    def outline(self) -> list[nn.KernelOp]:
        """Return the kernels by first launch, moving the bodies out of their regions."""
        return [shared.outline() for shared in self._kernels.values()]


@dataclass
class _Shared:
    """A kernel and the nodes of its regions."""

    name: str
    first: nn.FusedOp
    """The first of its regions, whose body it takes."""
    nodes: list[str]
    conditions: Sequence[LaunchCondition] = ()
    rows: set[int] = field(default_factory=set[int])
    """The arguments that are rows of buffers at any launch."""
    launches: int = 0

    def outline(self) -> nn.KernelOp:
        inputs, outputs = self.first.inputs, self.first.outputs
        body = self.first.detach_region(0)
        for condition in self.conditions:
            argument = body.block.insert_arg(condition.type, len(body.block.args))
            argument.name_hint = "taken"
        return nn.KernelOp(
            self.name,
            [*(value.type for value in inputs), *(each.type for each in self.conditions)],
            [value.type for value in outputs],
            body,
            runs_if=[
                tir.RunCondition(i, each.wanted)
                for i, each in enumerate(self.conditions, len(inputs))
            ],
            constants=[i for i, value in enumerate(inputs) if nn.constant_of(value) is not None],
            rows=sorted(self.rows),
            comment=self._comment(),
        )

    def _comment(self) -> str:
        shown = ", ".join(self.nodes[:_MOST_NODES])
        hidden = len(self.nodes) - _MOST_NODES
        more = f" and {hidden} more" if hidden > 0 else ""
        return with_launches(f"{shown}{more}", self.launches)


def kernel_stem(fused: nn.FusedOp) -> str:
    """Return a short name for a kernel, from the operation that dominates it.

    This is the operation that starts a kernel, else the last that moves elements, else the first
    function.
    """
    stem = ""
    for op in filter(_computes, fused.body.block.ops):
        name, kind = op.name.rpartition(".")[2], kind_of(op)
        if starts_kernel(op):
            return f"{name}_{kind}" if kind else name
        is_function = role_of(op) is nn.Role.ELEMENTWISE
        stem = (stem or kind or name) if is_function else name
    return stem or "relayout"


def _key(fused: nn.FusedOp) -> tuple[object, ...]:
    """Return a key that is equal for two regions exactly if one kernel serves both."""
    rows, _ = structure(fused.body.block.args, fused.body.block.ops)
    inputs = tuple((value.type, nn.constant_of(value) is not None) for value in fused.inputs)
    return rows, inputs, tuple(value.type for value in fused.outputs)


def _node_names(fused: nn.FusedOp) -> list[str]:
    """Return the names of a region's nodes for the kernel's comment."""
    names = dict.fromkeys(node_name(op) for op in fused.body.block.ops if _computes(op))
    return list(names) or [copy_comment(fused)]


def _computes(op: Operation) -> bool:
    return not isinstance(op, nn.ConstantOp | nn.YieldOp)
