"""Names of nodes for messages and comments."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    StringAttr,
    UnregisteredOp,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation
from xdsl.utils.str_enum import StrEnum

from ..messages.printable import printable


def node_name(op: Operation) -> str:
    """The name that the model's author gave the node of `op`, else the operation's own name.

    It is for people: what cannot be seen in it is escaped, and a long one is cut.
    """
    name = _name(op.location)
    return printable(name) if name else op_name(op)


def op_name(op: Operation) -> str:
    """The name of an operation, even if its dialect is not registered."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def kind_of(op: Operation) -> str:
    """The function that an operation of several computes: the `add` of a binary; else empty."""
    kind = op.properties.get("kind")
    if not isinstance(kind, EnumAttribute):
        return ""
    return cast("EnumAttribute[StrEnum]", kind).data.value


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
