"""The role of each nn operation in its kernel, from which fusion and layouts follow."""

from __future__ import annotations

from enum import Enum, auto

from xdsl.ir import Operation

from ...dialects import nn


class Role(Enum):
    """The role of an operation in its kernel."""

    ELEMENTWISE = auto()
    """Each result element comes from one element of each operand, at the same (broadcast) index."""
    INDEX = auto()
    """Each result element is one operand element at another index."""
    WINDOW = auto()
    """Reads several operand elements per result: it starts a kernel, and inlines cheap producers.
    """
    CONTRACTION = auto()
    """Reads each operand element many times: its operands should be in memory."""
    PIECES = auto()
    """Stores its operands piece by piece: a kernel of its own, producers inlined."""


_WINDOWS = (
    nn.PoolOp,
    nn.MaxPoolIndicesOp,
    nn.ReduceOp,
    nn.ArgReduceOp,
    nn.SoftmaxOp,
    nn.LayerNormOp,
    nn.RmsNormOp,
    nn.GroupNormOp,
    nn.CumsumOp,
    nn.ResizeOp,
    nn.TopKOp,
    nn.GatherNDOp,
    nn.GatherElementsOp,
    nn.ScatterElementsOp,
    nn.ScatterNDOp,
)
_ELEMENTWISE = (
    nn.UnaryOp,
    nn.ClipOp,
    nn.BinaryOp,
    nn.CompareOp,
    nn.WhereOp,
    nn.CastOp,
    nn.BatchNormOp,
)
_INDEX = (
    nn.TransposeOp,
    nn.SliceOp,
    nn.PadOp,
    nn.ExpandOp,
    nn.TileOp,
    nn.GatherOp,
    nn.DepthToSpaceOp,
    nn.SpaceToDepthOp,
)

ROLES: dict[type[Operation], Role] = {
    **dict.fromkeys(_ELEMENTWISE, Role.ELEMENTWISE),
    **dict.fromkeys(_INDEX, Role.INDEX),
    **dict.fromkeys(_WINDOWS, Role.WINDOW),
    nn.ConvOp: Role.CONTRACTION,
    nn.ConvTransposeOp: Role.CONTRACTION,
    nn.MatmulOp: Role.CONTRACTION,
    nn.WinogradInputOp: Role.CONTRACTION,
    nn.WinogradOutputOp: Role.CONTRACTION,
    nn.ConcatOp: Role.PIECES,
}

STARTS_KERNEL = (Role.WINDOW, Role.CONTRACTION, Role.PIECES)
"""The roles with their own stages, of which a kernel has at most one."""


def role_of(op: Operation) -> Role | None:
    """The role of an nn operation; None for operations that never enter a kernel."""
    return ROLES.get(type(op))
