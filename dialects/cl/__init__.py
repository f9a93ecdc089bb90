"""The queue program: the commands of one inference on one in-order OpenCL command queue."""

from xdsl.ir import Dialect

from .commands import Access, Command, access, commands, enqueued, uses_ml_ops
from .image_pool import image_objects
from .kernels import Kernel, kernels_of
from .liveness import Lifetime, lifetimes
from .memory import ArenaOp, BufferViewOp, ImageViewOp, stored_bytes
from .ml_graphs import graphs_of, ml_graphs, ml_memory_type, ml_tensors
from .ml_op import EnqueueMLOp
from .ops import (
    AllocOp,
    ConstantOp,
    EnqueueCopyOp,
    EnqueueKernelOp,
    KernelOp,
    ReturnOp,
    ViewOp,
)
from .placement import Extent, Part, extent, parts, roots
from .program import Port, ProgramOp
from .target import Target
from .target_attr import TargetAttr, set_target, target_of

__all__ = [
    "CL",
    "Access",
    "AllocOp",
    "ArenaOp",
    "BufferViewOp",
    "Command",
    "ConstantOp",
    "EnqueueCopyOp",
    "EnqueueKernelOp",
    "EnqueueMLOp",
    "Extent",
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
    "access",
    "commands",
    "enqueued",
    "extent",
    "graphs_of",
    "image_objects",
    "kernels_of",
    "lifetimes",
    "ml_graphs",
    "ml_memory_type",
    "ml_tensors",
    "parts",
    "roots",
    "set_target",
    "stored_bytes",
    "target_of",
    "uses_ml_ops",
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
        EnqueueMLOp,
        ImageViewOp,
        KernelOp,
        ProgramOp,
        ReturnOp,
        ViewOp,
    ],
    [TargetAttr],
)
