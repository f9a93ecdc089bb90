"""Which operations may store their floats as half: one row per operation."""

from __future__ import annotations

from enum import Enum, auto

from xdsl.ir import Operation

from ...dialects import nn
from ...dialects.nn import BinaryKind, ReduceKind, ScatterReduction, UnaryKind


class Rule(Enum):
    """How an operation of f32 tensors behaves in a network that stores halves."""

    ROUNDS = auto()
    """Its operands are rounded to half: it reads them often, and that is where the time goes."""
    FOLLOWS = auto()
    """Stored as half where all its computed operands are; a value in f32 is not worth a cast."""
    JOINS = auto()
    """Stored as half where one of its computed operands is: it only brings them together."""
    SINGLE = auto()
    """Stored in f32: its result may leave the range of half, or its operands decide something."""


_ROUNDS = (nn.ConvOp, nn.ConvTransposeOp, nn.MatmulOp)
# What these compute inside (exponentials, statistics, coordinates) they compute in float anyway.
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
"""Everything else is SINGLE: comparisons, arg_reduce, top_k and max_pool_indices, where two numbers
that round to one half would tie; cumsum, which grows; casts, also to integers, which are often
indices; operations that are not ours.
"""

SINGLE_KINDS: dict[type[Operation], frozenset[str]] = {
    # They leave the range of half (65504) for common arguments, come near to a pole, or take
    # positions, which are exact (sin and cos of them).
    nn.UnaryOp: frozenset(map(UnaryKind, "exp sinh cosh tan reciprocal rsqrt sin cos".split())),
    nn.BinaryOp: frozenset(map(BinaryKind, "pow mod fmod".split())),
    nn.ReduceOp: frozenset(map(ReduceKind, "sum prod l1 l2 sum_square".split())),
    nn.ScatterElementsOp: frozenset(map(ScatterReduction, "add mul".split())),
    nn.ScatterNDOp: frozenset(map(ScatterReduction, "add mul".split())),
}
"""The kinds of operations of FOLLOWS that are SINGLE."""


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
    """Whether this is x * x, which is beyond 65504 from x = 256 on."""
    return isinstance(op, nn.BinaryOp) and op.kind.data is BinaryKind.MUL and op.a is op.b
