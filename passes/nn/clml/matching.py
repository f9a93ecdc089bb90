"""Which operations CLML can compute, alone or together, and why it cannot compute the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from ....dialects import clml, cl
from ....weights import Weights


@dataclass(frozen=True, eq=False)
class Match:
    """nn operations that CLML can compute together; legal, as its commands were verified."""

    pattern: str
    """The row of the table."""
    ops: tuple[Operation, ...]
    """In program order, each the only reader of the one before; the last gives the result."""
    inputs: tuple[SSAValue, ...]
    """The nn values that it reads, but constants."""
    commands: tuple[Operation, ...]
    """The clml operations that compute it, detached, without copies between layouts; none for a
    reshape that only renames."""
    arithmetics: frozenset[clml.Arithmetic]
    """With which arithmetic of a graph it computes what nn says."""
    is_view: bool = False
    """Whether it is a reshape."""
    needs_producer: bool = False
    """Whether its input must be computed in the same graph."""

    @property
    def result(self) -> SSAValue:
        """The nn value it computes."""
        return self.ops[-1].results[0]


@dataclass
class Matches:
    """What of a function CLML can compute."""

    legal: list[Match] = field(default_factory=list[Match])
    """In program order; no operation is in two."""
    reasons: dict[Operation, str] = field(default_factory=dict[Operation, str])
    """One sentence for each other operation but constants and `func.return`."""


def find_matches(function: func.FuncOp, target: cl.Target, weights: Weights) -> Matches:
    """The legal matches of a function for the CLML version of `target`."""
    raise NotImplementedError
