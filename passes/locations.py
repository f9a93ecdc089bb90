"""Names of nodes for messages and comments."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Operation
from xdsl.utils.str_enum import StrEnum

from ..dialects.node_names import named_node


def node_name(op: Operation) -> str:
    """The name that the model's author gave the node of `op`, else the operation's own name.

    It is for people: what cannot be seen in it is escaped, and a long one is cut.
    """
    return named_node(op) or op_name(op)


def op_name(op: Operation) -> str:
    """The name of an operation, even if its dialect is not registered."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def kind_of(op: Operation) -> str:
    """The function that an operation of several computes: the `add` of a binary; else empty."""
    kind = op.properties.get("kind")
    if not isinstance(kind, EnumAttribute):
        return ""
    return cast("EnumAttribute[StrEnum]", kind).data.value
