"""Scan: a loop over the axes of its inputs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from onnx import GraphProto
from xdsl.ir import SSAValue

from .....dialects.nn.types import shape_of
from ....loops import MOST_ITERATIONS, MOST_UNROLLED, CannotRoll, NetworkLoop, build_loop
from ...node import NodeContext, Table
from .bodies import MAX_ITERATIONS, import_body, stack


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
    length = _shared(node, lengths)
    _check_outputs(node, outputs)
    return _Scan(body, states, scans, axes, out_axes, in_backward, out_backward, length).run(node)


def import_batched_scan(node: NodeContext) -> Sequence[SSAValue]:
    """Import the Scan of opset 8: one over axis 1 for each element of a batch, axis 0."""
    body, count = node.graph("body"), node.integer("num_scan_inputs")
    lengths, *values = node.inputs
    if lengths is not None:
        node.refuse("sequence_lens is not supported; convert the model to opset 9.")
    if not 1 <= count <= len(values) or None in values:
        node.refuse(f"num_scan_inputs is {count}, but the node has {len(values)} values.")
    present = [value for value in values if value is not None]
    if any(
        len(shape_of(value)) < 1 + (i >= len(present) - count) for i, value in enumerate(present)
    ):
        node.refuse("its states need a batch axis, and its scan inputs a sequence axis, too.")
    sizes = {shape_of(value)[:1] for value in present}
    steps = {shape_of(value)[1] for value in present[len(present) - count :]}
    if len(sizes) != 1 or not 1 <= max(sizes)[0] <= MAX_ITERATIONS:
        node.refuse(f"its inputs must share a batch of 1 to {MAX_ITERATIONS}.")
    length = _shared(node, steps)
    states = len(present) - count
    outputs = len(body.output) - states
    _check_outputs(node, outputs)
    backward = _lengths(node, "directions", count)
    columns: list[Sequence[SSAValue]] = []
    for at in range(*sizes.pop()):
        row = [
            node.builder.reshape(node.builder.slice(value, 0, at, 1), shape_of(value)[1:])
            for value in present
        ]
        zeros = [0] * outputs
        scan = _Scan(body, row[:states], row[states:], [0] * count, zeros, backward, zeros, length)
        columns.append(scan.run(node))
    return [stack(node, column, 0) for column in zip(*columns, strict=True)]


def _shared(node: NodeContext, lengths: Collection[int]) -> int:
    """Return the only one of the lengths of scan inputs; refuse others."""
    if len(lengths) != 1 or not 1 <= max(lengths) <= MOST_ITERATIONS:
        node.refuse(f"its inputs must share one length of 1 to {MOST_ITERATIONS}.")
    return max(lengths)


def _check_outputs(node: NodeContext, outputs: int) -> None:
    if outputs < 0:
        node.refuse("its body has fewer outputs than there are states.")


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

    def run(self, node: NodeContext) -> Sequence[SSAValue]:
        """Import the iterations; return the last states and the stacked outputs."""
        if self.length > MOST_UNROLLED:
            with suppress(CannotRoll):
                return _rolled_scan(node, self)
        return _unrolled_scan(node, self)


def _rolled_scan(node: NodeContext, scan: _Scan) -> Sequence[SSAValue]:
    builder, count = node.builder, len(scan.states)

    def iteration(
        carried: Sequence[SSAValue], rows: Sequence[SSAValue]
    ) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        values = import_body(node, scan.body, [*carried, *rows])
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
        stack(node, column, node.axis(axis, len(shape_of(column[0])) + 1))
        for column, axis in zip(columns, scan.out_axes, strict=True)
    ]
    return [*states, *stacked]


def _lengths(node: NodeContext, name: str, length: int) -> Sequence[int]:
    values = node.integers(name)
    if values is not None and len(values) != length:
        node.refuse(f"{name} has {len(values)} entries; expected {length}.")
    return [0] * length if values is None else values


TABLE: Table = {"Scan": {8: import_batched_scan, 9: import_scan}}
