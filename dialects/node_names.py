"""Names of a network's nodes, which operations carry as locations."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import (
    ArrayAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    NameLoc,
    StringAttr,
)
from xdsl.ir import Attribute, Operation

from ..messages.printable import printable


def named_node(op: Operation) -> str:
    """Return the model's name of the node of `op`, or an empty string.

    The name is for display: non-printable characters are escaped and long names truncated.
    """
    name = _name(op.location)
    return printable(name) if name else ""


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


def number_operations(ops: Iterable[Operation]) -> None:
    """Give operations numbers in their locations, which the operations that replace them inherit.

    Names of nodes do not tell operations apart: models may repeat or lack them.
    """
    for number, op in enumerate(ops):
        place = FileLineColLoc(StringAttr(""), IntAttr(number), IntAttr(0))
        op.location = NameLoc(StringAttr(_name(op.location) or f"{op.name} {number}"), place)


def operation_number(op: Operation) -> int | None:
    """Return the number of the operation that `op` stems from, if they were numbered."""
    match op.location:
        case NameLoc(location=FileLineColLoc(filename=StringAttr(data=""), line=line)):
            return line.data
        case _:
            return None
