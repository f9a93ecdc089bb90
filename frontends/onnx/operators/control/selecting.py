"""Results that a condition computed at run time selects: those of a branch, or of an iteration."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import SSAValue

from .....dialects.nn.types import shape_of
from .....tensor_info import describe
from ....builder import array_size, dtype_of_value
from ...node import NodeContext


class Wording(NamedTuple):
    """How a message names the two values between which a condition selects."""

    lengths: str
    """The rule for sequences."""
    shapes: str
    """The rule for tensors, with places for both."""


def scalar_condition(node: NodeContext, condition: SSAValue) -> SSAValue:
    """Return a condition as a scalar; refuse the node if it is not one number."""
    if shape_of(condition) and array_size(condition) != 1:
        node.refuse(f"its condition must be one number, not {list(shape_of(condition))}.")
    return node.builder.reshape(condition, ())


def select(
    node: NodeContext, condition: SSAValue, a: SSAValue, b: SSAValue, wording: Wording
) -> SSAValue:
    """Return `a` if the condition holds, else `b`; kernels of the other one return at once."""
    builder = node.builder
    if a is b:
        return a
    if a in builder.sequences or b in builder.sequences:
        first, second = builder.sequences.get(a), builder.sequences.get(b)
        if first is None or second is None or len(first) != len(second):
            node.refuse(f"its condition is computed at run time, so {wording.lengths}.")
        pairs = zip(first, second, strict=True)
        return builder.sequence([select(node, condition, *pair, wording) for pair in pairs])
    if a.type != b.type or a in builder.data_sizes or b in builder.data_sizes:
        shapes = wording.shapes.format(_described(node, a), _described(node, b))
        node.refuse(f"its condition is computed at run time, so {shapes}.")
    return builder.where(condition, a, b, lazy=True)


def _described(node: NodeContext, value: SSAValue) -> str:
    prefix = "at most " if value in node.builder.data_sizes else ""
    return prefix + describe(shape_of(value), dtype_of_value(value))
