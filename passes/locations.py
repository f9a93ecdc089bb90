"""Node names for messages and comments."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Operation
from xdsl.utils.str_enum import StrEnum

from ..dialects.node_names import named_node


def node_name(op: Operation) -> str:
    """Return the name that the model's author gave the node of `op`, else the operation's name.

    The result is meant for display: invisible characters are escaped and long names are truncated.
    """
    return named_node(op) or op_name(op)


def op_name(op: Operation) -> str:
    """Return the name of an operation, even if its dialect is not registered."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def kind_of(op: Operation) -> str:
    """Return the function that an operation's `kind` selects, such as `add`; "" without a kind."""
    kind = op.properties.get("kind")
    if not isinstance(kind, EnumAttribute):
        return ""
    return cast("EnumAttribute[StrEnum]", kind).data.value
