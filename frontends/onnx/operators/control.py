"""Control flow that is resolved at import: If takes a constant branch, Loop and Scan unroll."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from ....dialects.nn.types import shape_of
from ..node import NodeContext, Table

MAX_ITERATIONS = 1024
"""Iterations to which a loop is unrolled at most."""


def import_if(node: NodeContext) -> Sequence[SSAValue]:
    """Import If: inline the branch that its constant condition selects."""
    taken, other = node.graph("then_branch"), node.graph("else_branch")
    if not node.constant_number(0, "condition"):
        taken = other
    return node.subgraph(taken, ())


def import_loop(node: NodeContext) -> Sequence[SSAValue]:
    """Import Loop unrolled: its trip count and condition must be known at import."""
    builder, body = node.builder, node.graph("body")
    trips = node.constant_int(0, "trip count", MAX_ITERATIONS + 1)
    condition = node.optional(1) or builder.constant(np.array(True))
    carried = [node.input(i) for i in range(2, len(node.inputs))]
    scanned: list[list[SSAValue]] = [[] for _ in body.output[1 + len(carried) :]]
    iteration = 0
    while iteration < trips:
        sentence = "its condition is computed at run time, which is not supported."
        if not node.known(condition, sentence).all():
            break
        if iteration == MAX_ITERATIONS:
            node.refuse(f"runs more than {MAX_ITERATIONS} iterations, too many to unroll.")
        index = builder.constant(np.array(iteration, np.int64))
        condition, *values = node.subgraph(body, [index, condition, *carried])
        if len(values) != len(carried) + len(scanned):
            node.refuse("its body has fewer outputs than there are carried values.")
        carried = values[: len(carried)]
        for column, value in zip(scanned, values[len(carried) :], strict=True):
            column.append(value)
        iteration += 1
    if scanned and not iteration:
        node.refuse("runs no iteration, so its scan outputs have no shape.")
    return [*carried, *(_stack(node, column, 0) for column in scanned)]


def _stack(node: NodeContext, values: Sequence[SSAValue], axis: int) -> SSAValue:
    rows: list[SSAValue] = []
    for value in values:
        shape = list(shape_of(value))
        shape.insert(axis, 1)
        rows.append(node.builder.reshape(value, shape))
    return node.builder.concat(rows, axis)


def import_scan(node: NodeContext) -> Sequence[SSAValue]:
    """Import Scan unrolled over the axis of its scan inputs."""
    builder, body = node.builder, node.graph("body")
    count = node.integer("num_scan_inputs")
    if not 1 <= count <= len(node.inputs):
        node.refuse(f"num_scan_inputs is {count}, but the node has {len(node.inputs)} inputs.")
    states = node.present()[: len(node.inputs) - count]
    scans = node.present()[len(node.inputs) - count :]
    outputs = len(body.output) - len(states)
    in_axes = _lengths(node, "scan_input_axes", count)
    out_axes = _lengths(node, "scan_output_axes", outputs)
    in_backward = _lengths(node, "scan_input_directions", count)
    out_backward = _lengths(node, "scan_output_directions", outputs)
    axes = [node.axis(a, len(shape_of(v))) for a, v in zip(in_axes, scans, strict=True)]
    lengths = {shape_of(v)[a] for v, a in zip(scans, axes, strict=True)}
    if len(lengths) != 1 or not 1 <= max(lengths) <= MAX_ITERATIONS:
        node.refuse(f"its inputs must share one length of 1 to {MAX_ITERATIONS}.")
    if outputs < 0:
        node.refuse("its body has fewer outputs than there are states.")
    (length,) = lengths
    columns: list[list[SSAValue]] = [[] for _ in range(outputs)]
    for step in range(length):
        elements: list[SSAValue] = []
        for value, axis, backward in zip(scans, axes, in_backward, strict=True):
            part = builder.slice(value, axis, length - 1 - step if backward else step, 1)
            shape = [n for i, n in enumerate(shape_of(value)) if i != axis]
            elements.append(builder.reshape(part, shape))
        values = node.subgraph(body, [*states, *elements])
        states = list(values[: len(states)])
        for column, value, backward in zip(
            columns, values[len(states) :], out_backward, strict=True
        ):
            column.insert(0 if backward else len(column), value)
    stacked = [
        _stack(node, column, node.axis(axis, len(shape_of(column[0])) + 1))
        for column, axis in zip(columns, out_axes, strict=True)
    ]
    return [*states, *stacked]


def _lengths(node: NodeContext, name: str, length: int) -> Sequence[int]:
    values = node.integers(name)
    if values is not None and len(values) != length:
        node.refuse(f"{name} has {len(values)} entries; expected {length}.")
    return [0] * length if values is None else values


def refuse_old_scan(node: NodeContext) -> SSAValue:
    """Refuse the Scan of opset 8, which has a batch dimension."""
    node.refuse("the Scan of opset 8 is not supported; convert the model to opset 9.")


TABLE: Table = {
    "If": {1: import_if},
    "Loop": {1: import_loop},
    "Scan": {8: refuse_old_scan, 9: import_scan},
}
