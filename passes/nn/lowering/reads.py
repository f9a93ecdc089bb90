"""The elements that an operation reads, each as a function of the result's index.

Layouts and tails need to know how an operation's indices move. This module derives it from the
operation's lowering (`recorder`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.ir.affine import AffineExpr


@dataclass(frozen=True, eq=False)
class OperandRead:
    """A load that an operation performs for many elements of its result.

    `index` is over the axes of the result, `d0` to `d{rank - 1}`, and further values: the loops of
    reductions, and loaded integers. It is also valid for indices beyond the extents of the result,
    where packed layouts have tails.
    """

    operand: int
    """The position among the operands."""
    index: tuple[AffineExpr, ...]
    times: int
    """The number of loads for the whole result."""
    guarded: bool
    """Whether some loads are skipped because they would be outside of the operand."""
    extents: tuple[int | None, ...]
    """The loop extent of each value; None for axes of the result and loaded integers."""
    depends: dict[int, frozenset[int]]
    """For each loaded integer, the axes and loops on which it depends."""

    @property
    def loops(self) -> list[int]:
        """Return the values that are loops of reductions."""
        return [value for value, extent in enumerate(self.extents) if extent is not None]


def reads_of(op: Operation) -> Sequence[OperandRead]:
    """Return an operation's reads for its first result; none if they are unknown."""
    if op.regions:
        return tuple(_recorded(_alone(op, [body.clone() for body in op.regions])))
    operands, results = (tuple(v.type for v in values) for values in (op.operands, op.results))
    properties = tuple(sorted(op.properties.items()))
    return _reads(type(op), operands, results, properties)


def _alone(op: Operation, bodies: Sequence[Region]) -> Operation:
    """Return the same operation on arguments of a block."""
    block = Block(arg_types=[value.type for value in op.operands])
    return type(op).create(
        operands=block.args,
        result_types=[value.type for value in op.results],
        properties=dict(op.properties),
        regions=bodies,
    )


def _recorded(op: Operation) -> Sequence[OperandRead]:
    # Imported here: the recorder is a kernel builder, which imports this module.
    """Run the recorder on an operation."""
    from .recorder import record

    return record(op)


# Caches equal operations across networks. The key holds types and properties, since holding the
# operations would keep their modules alive.
@lru_cache(maxsize=4096)
def _reads(
    kind: type[Operation],
    operands: Sequence[Attribute],
    results: Sequence[Attribute],
    properties: Sequence[tuple[str, Attribute]],
) -> Sequence[OperandRead]:
    block = Block(arg_types=operands)
    op = kind.create(operands=block.args, result_types=results, properties=dict(properties))
    return tuple(_recorded(op))
