"""The roles of operations in their kernels, which their classes define."""

from __future__ import annotations

from xdsl.ir import Operation

from ...dialects import nn


def role_of(op: Operation) -> nn.Role | None:
    """Return the role of an operation; None for operations that never enter a kernel."""
    return op.role() if isinstance(op, nn.NNOp) else None


def starts_kernel(op: Operation) -> bool:
    """Return whether an operation has a role that starts a kernel."""
    role = role_of(op)
    return role is not None and role.starts_kernel
