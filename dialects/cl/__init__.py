"""The queue program: what one inference puts on one in-order OpenCL command queue."""

from xdsl.ir import Dialect

from .ops import (
    AllocOp,
    ConstantOp,
    EnqueueCopyOp,
    EnqueueKernelOp,
    KernelOp,
    ReturnOp,
    ViewOp,
)
from .program import Port, ProgramOp
from .target import Target, TargetAttr, set_target, target_of

__all__ = [
    "CL",
    "AllocOp",
    "ConstantOp",
    "EnqueueCopyOp",
    "EnqueueKernelOp",
    "KernelOp",
    "Port",
    "ProgramOp",
    "ReturnOp",
    "Target",
    "TargetAttr",
    "ViewOp",
    "set_target",
    "target_of",
]

CL = Dialect(
    "cl",
    [
        AllocOp,
        ConstantOp,
        EnqueueCopyOp,
        EnqueueKernelOp,
        KernelOp,
        ProgramOp,
        ReturnOp,
        ViewOp,
    ],
    [TargetAttr],
)
