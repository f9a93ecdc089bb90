"""The queue program: what one inference puts on one in-order OpenCL command queue."""

from xdsl.ir import Dialect

from .image_pool import image_objects
from .liveness import Lifetime, Part, commands, lifetimes, parts, roots
from .memory import ArenaOp, BufferViewOp, ImageViewOp, stored_bytes
from .ops import (
    AllocOp,
    ConstantOp,
    EnqueueCopyOp,
    EnqueueKernelOp,
    KernelOp,
    ReturnOp,
    ViewOp,
)
from .program import Kernel, Port, ProgramOp, kernels_of
from .target import Target, TargetAttr, set_target, target_of

__all__ = [
    "CL",
    "AllocOp",
    "ArenaOp",
    "BufferViewOp",
    "ConstantOp",
    "EnqueueCopyOp",
    "EnqueueKernelOp",
    "ImageViewOp",
    "Kernel",
    "KernelOp",
    "Lifetime",
    "Part",
    "Port",
    "ProgramOp",
    "ReturnOp",
    "Target",
    "TargetAttr",
    "ViewOp",
    "commands",
    "image_objects",
    "kernels_of",
    "lifetimes",
    "parts",
    "roots",
    "set_target",
    "stored_bytes",
    "target_of",
]

CL = Dialect(
    "cl",
    [
        AllocOp,
        ArenaOp,
        BufferViewOp,
        ConstantOp,
        EnqueueCopyOp,
        EnqueueKernelOp,
        ImageViewOp,
        KernelOp,
        ProgramOp,
        ReturnOp,
        ViewOp,
    ],
    [TargetAttr],
)
