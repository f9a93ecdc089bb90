"""Operators of opset 6 and older, before numpy broadcasting."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ....dialects.nn.types import shape_of
from ..node import Handler, NodeContext


def _aligned(node: NodeContext) -> SSAValue:
    """Reshape the second operand so that numpy broadcasting has the effect of `broadcast`.

    With `broadcast`, the shape of the second operand equals consecutive dimensions of the first,
    which start at `axis` or else are the last ones. Without it the shapes are equal.
    """
    a, b = node.shape(0), node.shape(1)
    if not node.flag("broadcast"):
        node.integer("axis", 0)
        if a != b:
            node.refuse(f"shapes {list(a)} and {list(b)} differ, and broadcast is not set.")
        return node.input(1)
    axis = node.integer("axis", len(a) - len(b))
    axis = node.axis(axis, len(a) + 1)
    following = len(a) - axis - len(b)
    matches = all(n in (1, m) for n, m in zip(b, a[axis:], strict=False))
    if following < 0 or not matches:
        node.refuse(f"the shape {list(b)} does not broadcast to {list(a)} at axis {axis}.")
    return node.builder.reshape(node.input(1), (*b, *[1] * following))


def aligned_binary(kind: str) -> Handler:
    """Return the importer of an operator that is one nn.binary."""
    return lambda node: node.builder.binary(kind, node.input(0), _aligned(node))


def aligned_compare(kind: str) -> Handler:
    """Return the importer of an operator that is one nn.compare."""
    return lambda node: node.builder.compare(kind, node.input(0), _aligned(node))


def import_prelu_6(node: NodeContext) -> SSAValue:
    """Import PRelu with one slope, or one per channel."""
    builder, slope = node.builder, node.input(1)
    if shape_of(slope) == (1,):
        return builder.binary("prelu", node.input(0), builder.reshape(slope, ()))
    if len(shape_of(slope)) != 1 or node.rank() < 2 or shape_of(slope)[0] != node.shape()[1]:
        node.refuse(f"the slope of shape {list(shape_of(slope))} is not one slope per channel.")
    column = builder.reshape(slope, (*shape_of(slope), *[1] * (node.rank() - 2)))
    return builder.binary("prelu", node.input(0), column)


def import_dropout_6(node: NodeContext) -> SSAValue:
    """Import Dropout as its input; refuse training mode."""
    node.real("ratio", 0.5)
    if not node.flag("is_test"):
        node.refuse("drops elements at random (is_test = 0); export for inference.")
    return node.input(0)
