"""The fusion policy for values in texels: as for plain values, except for operations on lanes.

Padding stays inside of convolutions and pools, because a read outside of an image gives zero.
Reshapes are kernels or parts of kernels, because a texel of the new shape may hold other elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from ....dialects import nn
from ..fuse import Group, Policy
from ..roles import ROLES, Role

_MOVES_LANES = (
    nn.TransposeOp,
    nn.ReshapeOp,
    nn.DepthToSpaceOp,
    nn.SpaceToDepthOp,
    nn.GatherOp,
)


def keeps_axes(op: Operation) -> bool:
    """Whether a reshape only adds and drops axes of one element."""
    if not isinstance(op, nn.ReshapeOp):
        return False
    old, new = ([n for n in nn.shape_of(v) if n != 1] for v in (op.x, op.result))
    return old == new


def _places(group: Group, op: Operation, views: Sequence[nn.ReshapeOp]) -> bool:
    return isinstance(group.anchor, nn.PoolOp | nn.ReduceOp | nn.ConvOp) and keeps_axes(op)


def _may_inline(group: Group) -> bool:
    return not any(isinstance(op, _MOVES_LANES) for op in group.ops)


TEXELS = Policy({**ROLES, nn.ReshapeOp: Role.INDEX}, _places, _may_inline)
