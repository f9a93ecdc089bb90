"""The parts of a function that an accelerator can compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from ....dialects import nn


@dataclass(frozen=True, eq=False, kw_only=True)
class Match:
    """nn operations that an accelerator can compute together, exactly as nn defines them.

    An accelerator may derive a class with the data that it needs to write the graph.
    """

    ops: tuple[Operation, ...]
    """In program order; the last produces the result, and only the match reads the others."""
    inputs: tuple[SSAValue, ...]
    """The nn values that it reads, without constants."""
    note: str
    """The accelerator's commands for the match, for display."""
    is_opaque: bool = False
    """Whether it reads and writes opaque tensors, which are copied where a graph ends."""
    is_view: bool = False
    """Whether it is a reshape, which takes no time outside of graphs."""
    needs_producer: bool = False
    """Whether its input must be computed in the same graph."""
    is_alone: bool = False
    """Whether it must be the only match of its graph."""
    rewritten: tuple[Operation, ...] = ()
    """The model's operations, if OpenCL kernels compute them in another form, `ops`.

    Both read the same inputs in the same order.
    """

    @property
    def result(self) -> SSAValue:
        """Return the nn value that the match computes."""
        return self.ops[-1].results[0]

    @property
    def model(self) -> tuple[Operation, ...]:
        """Return the model's operations, from which the graph is written."""
        return self.rewritten or self.ops


@dataclass
class Matches:
    """The parts of a function that an accelerator can compute."""

    legal: Sequence[Match] = field(default_factory=list[Match])
    """In program order, without overlaps."""
    reasons: dict[Operation, str] = field(default_factory=dict[Operation, str])
    """One sentence for each other operation, except constants and `func.return`."""


def inputs_of(ops: Sequence[Operation]) -> tuple[SSAValue, ...]:
    """Return the values that `ops` read from outside, without constants, by first use."""
    inside = {value for op in ops for value in op.results}
    return tuple(
        dict.fromkeys(
            value
            for op in ops
            for value in op.operands
            if value not in inside and not isinstance(value.owner, nn.ConstantOp)
        )
    )
