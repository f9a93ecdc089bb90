"""The fusion policy for values in texels: as for plain values, except for reshapes and lanes.

Padding stays inside of convolutions and pools, because a read outside of an image gives zero.
Reshapes are kernels or parts of kernels, because a texel of the new shape may hold other elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from ....dialects import nn
from ..fuse import Group, Policy
from ..roles import role_of


def keeps_axes(op: Operation) -> bool:
    """Return whether a reshape only adds and drops axes of one element."""
    if not isinstance(op, nn.ReshapeOp):
        return False
    old, new = ([n for n in nn.shape_of(v) if n != 1] for v in (op.x, op.result))
    return old == new


def _places(group: Group, op: nn.NNOp, views: Sequence[nn.ReshapeOp]) -> bool:
    return isinstance(group.anchor, nn.PoolOp | nn.ReduceOp | nn.ConvOp) and keeps_axes(op)


def _may_inline(group: Group) -> bool:
    return not any(isinstance(op, nn.NNOp) and op.MOVES_AXES for op in group.ops)


def _role(op: Operation) -> nn.Role | None:
    return nn.Role.INDEX if isinstance(op, nn.ReshapeOp) else role_of(op)


TEXELS = Policy("texels", _role, _places, _may_inline)
