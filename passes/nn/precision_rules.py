"""The rules by which operations store their floats as half: one row per operation."""

from __future__ import annotations

from enum import Enum, auto

from xdsl.ir import Operation

from ...dialects import nn
from ...dialects.nn import BinaryKind, ReduceKind, ScatterReduction, UnaryKind


class Rule(Enum):
    """The behaviour of an operation of f32 tensors in a network that stores halves."""

    ROUNDS = auto()
    """Rounds its operands to half: it reads each many times, so their size is its time."""
    FOLLOWS = auto()
    """Stores half if all of its computed operands are half; it is not worth a cast of one in f32.
    """
    JOINS = auto()
    """Stores half if one of its computed operands is half: it only brings them together."""
    SINGLE = auto()
    """Stores f32: its result may leave the range of half, or small differences change a decision.
    """


_ROUNDS = (nn.ConvOp, nn.ConvTransposeOp, nn.MatmulOp)
# Their inner values (exponentials, statistics, coordinates) are floats in any case.
_FOLLOWS = (
    nn.BatchNormOp,
    nn.BinaryOp,
    nn.ClipOp,
    nn.DepthToSpaceOp,
    nn.ExpandOp,
    nn.GatherElementsOp,
    nn.GatherNDOp,
    nn.GatherOp,
    nn.GroupNormOp,
    nn.LayerNormOp,
    nn.PadOp,
    nn.PoolOp,
    nn.ReduceOp,
    nn.ReshapeOp,
    nn.ResizeOp,
    nn.RmsNormOp,
    nn.ScatterElementsOp,
    nn.ScatterNDOp,
    nn.SliceOp,
    nn.SoftmaxOp,
    nn.SpaceToDepthOp,
    nn.TileOp,
    nn.TransposeOp,
    nn.UnaryOp,
    nn.WhereOp,
)

RULES: dict[type[Operation], Rule] = {
    **dict.fromkeys(_ROUNDS, Rule.ROUNDS),
    **dict.fromkeys(_FOLLOWS, Rule.FOLLOWS),
    nn.ConcatOp: Rule.JOINS,
}
"""All other operations are SINGLE: comparisons, arg_reduce, top_k and max_pool_indices, because two
numbers that round to one half would tie; cumsum, because it grows; casts, because integers are
often indices; operations that are not ours.
"""

SINGLE_KINDS: dict[type[Operation], frozenset[str]] = {
    # Common arguments take these out of the range of half (65504) or near a pole; sin and cos often
    # take positions, which half does not hold exactly.
    nn.UnaryOp: frozenset(map(UnaryKind, "exp sinh cosh tan reciprocal rsqrt sin cos".split())),
    nn.BinaryOp: frozenset(map(BinaryKind, "pow mod fmod".split())),
    nn.ReduceOp: frozenset(map(ReduceKind, "sum prod l1 l2 sum_square".split())),
    nn.ScatterElementsOp: frozenset(map(ScatterReduction, "add mul".split())),
    nn.ScatterNDOp: frozenset(map(ScatterReduction, "add mul".split())),
}
"""The kinds that are SINGLE although their operations are FOLLOWS."""


def rule_of(op: Operation) -> Rule:
    """The rule of an operation."""
    if _kind(op) in SINGLE_KINDS.get(type(op), ()) or _is_square(op):
        return Rule.SINGLE
    return RULES.get(type(op), Rule.SINGLE)


def _kind(op: Operation) -> str | None:
    match op:
        case nn.UnaryOp() | nn.BinaryOp() | nn.ReduceOp():
            return op.kind.data
        case nn.ScatterElementsOp() | nn.ScatterNDOp():
            return op.reduction.data
        case _:
            return None


def _is_square(op: Operation) -> bool:
    """Whether this is x * x, which leaves the range of half at x = 256."""
    return isinstance(op, nn.BinaryOp) and op.kind.data is BinaryKind.MUL and op.a is op.b
