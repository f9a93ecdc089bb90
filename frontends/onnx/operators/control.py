"""Control flow: If selects a branch, Loop and Scan become loops or unroll if short."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from onnx import GraphProto
from xdsl.ir import SSAValue

from ....dialects.nn.types import shape_of
from ....errors import CloptError
from ....tensor_info import describe
from ...builder import TooManySteps, array_size, dtype_of_value
from ...loops import MOST_ITERATIONS, MOST_UNROLLED, CannotRoll, NetworkLoop, build_loop
from ..node import NodeContext, Table

MAX_ITERATIONS = 1024
"""Iterations to which a loop is unrolled at most."""


def import_if(node: NodeContext) -> Sequence[SSAValue]:
    """Import If: inline the branch that its condition selects, or both.

    Of both, kernels of the branch that is not taken return at once. This needs results of equal
    types. If small inputs alone determine the condition, their values can select instead.
    """
    branches = node.graph("then_branch"), node.graph("else_branch")
    condition = node.input(0)
    if node.builder.known(condition) is None:
        try:
            return _either(node, condition, branches)
        except TooManySteps:
            raise
        except CloptError:
            if not node.builder.deciding_inputs(condition):
                raise
    return node.subgraph(branches[not node.constant_number(0, "condition")], ())


def _either(
    node: NodeContext, condition: SSAValue, branches: Sequence[GraphProto]
) -> Sequence[SSAValue]:
    """Import both branches of an If with a condition that is computed at run time."""
    if shape_of(condition) and array_size(condition) != 1:
        node.refuse(f"its condition must be one number, not {list(shape_of(condition))}.")
    condition = node.builder.reshape(condition, ())
    then, other = (node.subgraph(branch, ()) for branch in branches)
    if len(then) != len(other):
        node.refuse(f"its branches have {len(then)} and {len(other)} results.")
    return [_selected(node, condition, *pair) for pair in zip(then, other, strict=True)]


def _selected(node: NodeContext, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
    """Return a result of an If from the results of both branches."""
    builder = node.builder
    if a is b:
        return a
    if a in builder.sequences or b in builder.sequences:
        first, second = builder.sequences.get(a), builder.sequences.get(b)
        if first is None or second is None or len(first) != len(second):
            node.refuse(
                "its condition is computed at run time, so its branches must return sequences of "
                "equal lengths."
            )
        pairs = zip(first, second, strict=True)
        return builder.sequence([_selected(node, condition, *pair) for pair in pairs])
    if a.type != b.type or a in builder.data_sizes or b in builder.data_sizes:
        node.refuse(
            "its condition is computed at run time, so its branches must return tensors of equal "
            f"shapes, which are known at import, not {_described(node, a)} and "
            f"{_described(node, b)}."
        )
    return builder.where(condition, a, b, lazy=True)


def _described(node: NodeContext, value: SSAValue) -> str:
    prefix = "at most " if value in node.builder.data_sizes else ""
    return prefix + describe(shape_of(value), dtype_of_value(value))


def import_loop(node: NodeContext) -> Sequence[SSAValue]:
    """Import Loop: its trip count must be known at import, and its condition decide nothing else.

    A loop is unrolled if it is short, or if its condition is known only for each iteration.
    """
    builder, body = node.builder, node.graph("body")
    trips = node.constant_int(0, "trip count", MAX_ITERATIONS + 1)
    condition = node.optional(1) or builder.constant(np.array(True))
    carried = [node.input(i) for i in range(2, len(node.inputs))]
    known = builder.known(condition)
    is_rolled = node.optional(0) is not None and MOST_UNROLLED < trips <= MOST_ITERATIONS
    if is_rolled and known is not None and known.all():
        with suppress(CannotRoll):
            return _rolled_loop(node, body, trips, carried)
    return _unrolled_loop(node, body, trips, condition, carried)


def _rolled_loop(
    node: NodeContext, body: GraphProto, trips: int, initial: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Import a Loop that always runs all its iterations."""
    builder, count = node.builder, len(initial)

    def iteration(
        carried: Sequence[SSAValue], rows: Sequence[SSAValue]
    ) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        always = builder.constant(np.array(True))
        condition, *values = _in_loop(node, body, [*rows, always, *carried])
        known = builder.known(condition)
        if known is None or not known.all() or len(values) < count:
            raise CannotRoll("Its condition may end the loop early.")
        return values[:count], values[count:]

    numbers = builder.positions(trips, 0, 1)
    return build_loop(builder, NetworkLoop(trips, initial, [numbers]), iteration)


def _in_loop(node: NodeContext, body: GraphProto, inputs: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Import the body of a loop; raise CannotRoll if it needs values that differ by iteration."""
    try:
        return node.subgraph(body, inputs)
    except TooManySteps:
        raise
    except CloptError as error:
        raise CannotRoll(str(error)) from error


def _unrolled_loop(
    node: NodeContext,
    body: GraphProto,
    trips: int,
    condition: SSAValue,
    carried: Sequence[SSAValue],
) -> Sequence[SSAValue]:
    """Import a Loop iteration by iteration; its condition must be known in each."""
    builder = node.builder
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
    """Import Scan over the axes of its scan inputs."""
    body = node.graph("body")
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
    if len(lengths) != 1 or not 1 <= max(lengths) <= MOST_ITERATIONS:
        node.refuse(f"its inputs must share one length of 1 to {MOST_ITERATIONS}.")
    if outputs < 0:
        node.refuse("its body has fewer outputs than there are states.")
    (length,) = lengths
    scan = _Scan(body, states, scans, axes, out_axes, in_backward, out_backward, length)
    if length > MOST_UNROLLED:
        with suppress(CannotRoll):
            return _rolled_scan(node, scan)
    return _unrolled_scan(node, scan)


@dataclass(frozen=True)
class _Scan:
    """The parts of a Scan."""

    body: GraphProto
    states: Sequence[SSAValue]
    scans: Sequence[SSAValue]
    axes: Sequence[int]
    out_axes: Sequence[int]
    """The axes of the stacked outputs, which may be negative."""
    in_backward: Sequence[int]
    out_backward: Sequence[int]
    length: int


def _rolled_scan(node: NodeContext, scan: _Scan) -> Sequence[SSAValue]:
    builder, count = node.builder, len(scan.states)

    def iteration(
        carried: Sequence[SSAValue], rows: Sequence[SSAValue]
    ) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        values = _in_loop(node, scan.body, [*carried, *rows])
        return values[:count], values[count:]

    rows = [
        builder.transpose(value, [axis, *(i for i in range(len(shape_of(value))) if i != axis)])
        for value, axis in zip(scan.scans, scan.axes, strict=True)
    ]
    backward = [i for i, flag in enumerate((*scan.in_backward, *scan.out_backward)) if flag]
    results = build_loop(builder, NetworkLoop(scan.length, scan.states, rows, backward), iteration)
    stacked: list[SSAValue] = []
    for value, axis in zip(results[count:], scan.out_axes, strict=True):
        rank = len(shape_of(value))
        order = list(range(1, rank))
        order.insert(node.axis(axis, rank), 0)
        stacked.append(builder.transpose(value, order))
    return [*results[:count], *stacked]


def _unrolled_scan(node: NodeContext, scan: _Scan) -> Sequence[SSAValue]:
    if scan.length > MAX_ITERATIONS:
        node.refuse(f"has {scan.length} iterations; at most {MAX_ITERATIONS} can be unrolled.")
    builder, states = node.builder, list(scan.states)
    columns: list[list[SSAValue]] = [[] for _ in scan.out_axes]
    for step in range(scan.length):
        elements: list[SSAValue] = []
        for value, axis, backward in zip(scan.scans, scan.axes, scan.in_backward, strict=True):
            at = scan.length - 1 - step if backward else step
            shape = [n for i, n in enumerate(shape_of(value)) if i != axis]
            elements.append(builder.reshape(builder.slice(value, axis, at, 1), shape))
        values = node.subgraph(scan.body, [*states, *elements])
        states = list(values[: len(states)])
        for column, value, backward in zip(
            columns, values[len(states) :], scan.out_backward, strict=True
        ):
            column.insert(0 if backward else len(column), value)
    stacked = [
        _stack(node, column, node.axis(axis, len(shape_of(column[0])) + 1))
        for column, axis in zip(columns, scan.out_axes, strict=True)
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
