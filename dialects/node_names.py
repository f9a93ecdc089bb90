"""Names of a network's nodes, which operations carry as locations."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, FusedLoc, NameLoc, StringAttr
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
