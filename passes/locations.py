"""Names of nodes, for messages and comments."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    StringAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation


def node_name(op: Operation) -> str:
    """The name that the model's author gave the node behind `op`; the op's own name without one."""
    return _name(op.location) or op_name(op)


def op_name(op: Operation) -> str:
    """The name of an operation, also where its dialect is not registered."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def _name(location: Attribute) -> str:
    match location:
        case NameLoc(desc=StringAttr(data=name)):
            return name
        case FileLineColLoc():
            return f"{location.filename.data}:{location.line.data}"
        case FusedLoc(locations=ArrayAttr(data=parts)):
            return "+".join(name for name in map(_name, parts) if name)
        case _:
            return ""
