"""Operators on tensors whose channels are the last dimension."""

from __future__ import annotations

from xdsl.ir import SSAValue

from .....dialects.nn.types import shape_of
from ....builder import Builder
from ...node import Handler, NodeContext


def to_first(builder: Builder, x: SSAValue) -> SSAValue:
    """Move the last dimension of `x` to position 1."""
    rank = len(shape_of(x))
    return builder.transpose(x, (0, rank - 1, *range(1, rank - 1)))


def to_last(builder: Builder, x: SSAValue) -> SSAValue:
    """Move the second dimension of `x` to the end."""
    rank = len(shape_of(x))
    return builder.transpose(x, (0, *range(2, rank), 1))


def channels_last(handler: Handler, *indices: int) -> Handler:
    """Return the importer of an operator whose result and inputs at `indices` end in channels.

    `handler` imports the same operator with channels first.
    """

    def wrapped(node: NodeContext) -> SSAValue:
        for index in indices:
            if (value := node.optional(index)) is not None:
                if len(shape_of(value)) < 3:
                    node.refuse(f"its input {index} has no channels and space.")
                node.replace(index, to_first(node.builder, value))
        result = handler(node)
        if not isinstance(result, SSAValue):
            node.refuse("must have one output.")
        return to_last(node.builder, result)

    return wrapped


def flagged(handler: Handler, *indices: int, default: bool = False) -> Handler:
    """Return the importer of an operator whose attribute `channels_last` selects the layout."""
    last = channels_last(handler, *indices)
    return lambda node: (last if node.flag("channels_last", default) else handler)(node)
