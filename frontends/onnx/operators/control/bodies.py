"""The bodies of Loop and Scan."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import GraphProto
from xdsl.ir import SSAValue

from .....dialects.nn.types import shape_of
from .....errors import CloptError
from ....builder import TooManySteps
from ....loops import CannotRoll
from ...node import NodeContext

MAX_ITERATIONS = 1024
"""Iterations to which a loop is unrolled at most."""


def import_body(
    node: NodeContext, body: GraphProto, inputs: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Import the body of a loop; raise CannotRoll if it needs values that differ by iteration."""
    try:
        values = node.subgraph(body, inputs)
    except TooManySteps:
        raise
    except CloptError as error:
        raise CannotRoll(str(error)) from error
    if any(value in node.builder.data_sizes for value in values):
        raise CannotRoll("A result has a size that only the device knows.")
    return values


def stack(node: NodeContext, values: Sequence[SSAValue], axis: int) -> SSAValue:
    """Return the values of a scan output, one from each iteration, along a new axis."""
    rows: list[SSAValue] = []
    for value in values:
        if value in node.builder.data_sizes:
            node.refuse(
                "an iteration returns a scan output with a size that only the device knows; carry "
                "a tensor of one size instead, and mask the elements that do not count."
            )
        shape = list(shape_of(value))
        shape.insert(axis, 1)
        rows.append(node.builder.reshape(value, shape))
    return node.builder.concat(rows, axis)
