"""The queue program: the commands of one inference on one in-order OpenCL command queue."""

from xdsl.ir import Dialect

from ...machine.target import Target
from .choice_attr import AlternativeAttr, ChoiceAttr
from .commands import (
    ONE_COMMAND,
    Access,
    Command,
    Repetition,
    access,
    commands,
    enqueued,
    is_offloaded,
    repetitions,
)
from .enqueue_offload import EnqueueOffloadOp
from .image_pool import image_objects
from .kernel_op import KernelOp
from .kernels import Kernel, Scalar, kernels_of
from .liveness import Lifetime, lifetimes
from .memory import ArenaOp, BufferViewOp, ImageViewOp, stored_bytes
from .offload_order import graphs_in, graphs_of
from .ops import (
    AllocOp,
    ConstantOp,
    EnqueueCopyOp,
    EnqueueKernelOp,
    ReturnOp,
    ViewOp,
)
from .placement import Extent, MemorySlice, extent, parts, roots
from .program import Port, ProgramOp
from .range_attr import RANGE, RangeAttr, range_of, sizes_map
from .repeat import RepeatOp, RowOp, repeat_of, row_of, trips_of
from .run import RunOp
from .target_attr import TargetAttr, set_target, target_of

__all__ = [
    "CL",
    "ONE_COMMAND",
    "RANGE",
    "Access",
    "AllocOp",
    "AlternativeAttr",
    "ArenaOp",
    "BufferViewOp",
    "ChoiceAttr",
    "Command",
    "ConstantOp",
    "EnqueueCopyOp",
    "EnqueueKernelOp",
    "EnqueueOffloadOp",
    "Extent",
    "ImageViewOp",
    "Kernel",
    "KernelOp",
    "Lifetime",
    "MemorySlice",
    "Port",
    "ProgramOp",
    "RangeAttr",
    "RepeatOp",
    "Repetition",
    "ReturnOp",
    "RowOp",
    "RunOp",
    "Scalar",
    "Target",
    "TargetAttr",
    "ViewOp",
    "access",
    "commands",
    "enqueued",
    "extent",
    "graphs_in",
    "graphs_of",
    "image_objects",
    "is_offloaded",
    "kernels_of",
    "lifetimes",
    "parts",
    "range_of",
    "repeat_of",
    "repetitions",
    "roots",
    "row_of",
    "set_target",
    "sizes_map",
    "stored_bytes",
    "target_of",
    "trips_of",
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
        EnqueueOffloadOp,
        ImageViewOp,
        KernelOp,
        ProgramOp,
        RepeatOp,
        ReturnOp,
        RowOp,
        RunOp,
        ViewOp,
    ],
    [AlternativeAttr, ChoiceAttr, RangeAttr, TargetAttr],
)
