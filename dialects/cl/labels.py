"""Names of commands and values in messages."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from .enqueue_offload import EnqueueOffloadOp
from .ops import EnqueueKernelOp


def title(op: Operation) -> str:
    """Return the name of a command: `cl.enqueue_kernel @conv`, `cl.enqueue_offload @graph[3]`."""
    match op:
        case EnqueueKernelOp():
            return f"{op.name} @{op.kernel_name}"
        case EnqueueOffloadOp():
            return f"{op.name} @{op.graph_name}[{op.index}]"
        case _:
            return op.name


def label(value: SSAValue) -> str:
    """Return the name of a value, or its type if it has none."""
    return f"%{value.name_hint}" if value.name_hint else f"a {value.type}"


def type_list(types: Sequence[Attribute]) -> str:
    """Return types separated by commas."""
    return ", ".join(str(type_) for type_ in types)


def byte_range(begin: int, end: int) -> str:
    """Return the bytes [begin, end) in words."""
    return f"bytes {begin} to {end - 1}"
