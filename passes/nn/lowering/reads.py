"""The elements that an operation reads, each as a function of the index of the result.

Layouts and tails need to know how an operation's indices move. The lowering says it; this module
asks (`recorder`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.ir.affine import AffineExpr


@dataclass(frozen=True, eq=False)
class OperandRead:
    """A load that an operation does for many elements of its result.

    `index` is over the axes of the result, `d0` to `d{rank - 1}`, and further values: the loops of
    reductions, and loaded integers. It holds for indices beyond the extents of the result, too,
    where packed layouts have tails.
    """

    operand: int
    """Its position among the operands."""
    index: tuple[AffineExpr, ...]
    times: int
    """The number of loads for the whole result."""
    guarded: bool
    """Whether some of them are left out, because they would be outside of the operand."""
    extents: tuple[int | None, ...]
    """Of each value the extent of its loop; None for axes of the result and loaded integers."""
    depends: dict[int, frozenset[int]]
    """For each loaded integer, the axes and loops on which it depends."""

    @property
    def loops(self) -> list[int]:
        """The values that loops of reductions walk."""
        return [value for value, extent in enumerate(self.extents) if extent is not None]


def reads_of(op: Operation) -> Sequence[OperandRead]:
    """The reads of an operation for its first result; none where its lowering does not say them."""
    if op.regions:
        return tuple(_recorded(_alone(op, [body.clone() for body in op.regions])))
    operands, results = (tuple(v.type for v in values) for values in (op.operands, op.results))
    properties = tuple(sorted(op.properties.items()))
    return _reads(type(op), operands, results, properties)


def _alone(op: Operation, bodies: Sequence[Region]) -> Operation:
    """The same operation on arguments of a block."""
    block = Block(arg_types=[value.type for value in op.operands])
    return type(op).create(
        operands=block.args,
        result_types=[value.type for value in op.results],
        properties=dict(op.properties),
        regions=bodies,
    )


def _recorded(op: Operation) -> Sequence[OperandRead]:
    # Not above: the recorder is a kernel, and kernels ask for reads.
    from .recorder import record

    return record(op)


# Equal operations of a network, and of others, are lowered once. The key holds no operation.
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
