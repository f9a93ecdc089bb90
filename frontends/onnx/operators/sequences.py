"""Sequences and optionals, which exist at import only: a sequence is a list of known length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from ....dialects.nn.types import shape_of, tensor_type
from ..node import NodeContext, Table


def import_empty(node: NodeContext) -> SSAValue:
    """Import SequenceEmpty; the first element that is inserted determines the element type."""
    node.integer("dtype", 1)
    return node.builder.sequence([])


def import_construct(node: NodeContext) -> SSAValue:
    """Import SequenceConstruct."""
    return _sequence(node, node.present())


def _sequence(node: NodeContext, values: Sequence[SSAValue]) -> SSAValue:
    """Return a sequence; refuse elements of several types."""
    types = {tensor_type(value).element_type for value in values}
    if len(types) > 1:
        node.refuse("the elements of its sequence have different types.")
    return node.builder.sequence(values)


def _position(node: NodeContext, index: int, limit: int, default: int) -> int:
    """Return a position below `limit`; negative ones count from the end of the sequence."""
    count = len(node.sequence(0))
    place = node.constant_int(index, "position", default)
    if not -count <= place < limit:
        node.refuse(f"the position {place} is outside a sequence of {count}.")
    return place + count if place < 0 else place


def import_insert(node: NodeContext) -> SSAValue:
    """Import SequenceInsert: before a position, by default at the end."""
    values = list(node.sequence(0))
    values.insert(_position(node, 2, len(values) + 1, len(values)), node.input(1))
    return _sequence(node, values)


def import_erase(node: NodeContext) -> SSAValue:
    """Import SequenceErase: without the element at a position, by default the last one."""
    values = list(node.sequence(0))
    del values[_position(node, 1, len(values), len(values) - 1)]
    return node.builder.sequence(values)


def import_at(node: NodeContext) -> SSAValue:
    """Import SequenceAt."""
    values = node.sequence(0)
    return values[_position(node, 1, len(values), 0)]


def import_length(node: NodeContext) -> SSAValue:
    """Import SequenceLength."""
    return node.builder.constant(np.array(len(node.sequence(0)), np.int64))


def import_concat(node: NodeContext) -> SSAValue:
    """Import ConcatFromSequence: along an axis of the elements, or along a new one."""
    builder, values = node.builder, node.sequence(0)
    if not values:
        node.refuse("its sequence is empty.")
    new, rank = node.flag("new_axis"), len(shape_of(values[0]))
    axis = node.axis(node.integer("axis"), rank + new)
    if new:
        shapes = [[*shape_of(v)[:axis], 1, *shape_of(v)[axis:]] for v in values]
        values = [builder.reshape(v, shape) for v, shape in zip(values, shapes, strict=True)]
    return builder.concat(values, axis)


def import_split(node: NodeContext) -> SSAValue:
    """Import SplitToSequence: parts of given sizes, of one size, or of one element each."""
    builder, x = node.builder, node.input(0)
    axis, keeps = node.axis(node.integer("axis", 0), node.rank()), node.flag("keepdims", True)
    total = node.shape()[axis]
    sizes = [1] * total
    if (split := node.optional(1)) is not None:
        given = node.constant_ints(1, "split")
        sizes = list(given)
        if not shape_of(split):
            (size,) = given
            if size < 1:
                node.refuse(f"its parts must have one or more elements, not {size}.")
            sizes = [min(size, total - start) for start in range(0, total, size)]
    if sum(sizes) != total or min(sizes, default=0) < 0:
        node.refuse(f"its parts {sizes} do not add up to the {total} elements of the axis.")
    parts: list[SSAValue] = []
    for i, size in enumerate(sizes):
        part = builder.slice(x, axis, sum(sizes[:i]), size)
        if split is None and not keeps:
            part = builder.reshape(part, [n for j, n in enumerate(node.shape()) if j != axis])
        parts.append(part)
    return builder.sequence(parts)


def import_map(node: NodeContext) -> Sequence[SSAValue]:
    """Import SequenceMap: its body for each element; each reads the whole of tensor inputs."""
    body, values = node.graph("body"), node.present()
    rows = [node.builder.sequences.get(value) for value in values]
    lengths = {len(row) for row in rows if row is not None}
    if rows[0] is None or len(lengths) != 1:
        node.refuse("its first input must be a sequence, and its sequences must have one length.")
    results = [
        node.subgraph(
            body, [v if row is None else row[i] for v, row in zip(values, rows, strict=True)]
        )
        for i in range(*lengths)
    ]
    return [
        node.builder.sequence([result[i] for result in results]) for i in range(len(body.output))
    ]


def import_optional(node: NodeContext) -> SSAValue:
    """Import Optional: its element itself, or an optional without one."""
    node.type_proto("type")
    return node.optional(0) or node.builder.sequence(None)


def import_has_element(node: NodeContext) -> SSAValue:
    """Import OptionalHasElement."""
    value = node.optional(0)
    is_present = value is not None and not node.builder.is_absent(value)
    return node.builder.constant(np.array(is_present))


def import_get_element(node: NodeContext) -> SSAValue:
    """Import OptionalGetElement."""
    if node.builder.is_absent(node.input(0)):
        node.refuse("its optional has no element.")
    return node.input(0)


TABLE: Table = {
    "ConcatFromSequence": {11: import_concat},
    "Optional": {15: import_optional},
    "OptionalGetElement": {15: import_get_element},
    "OptionalHasElement": {15: import_has_element},
    "SequenceAt": {11: import_at},
    "SequenceConstruct": {11: import_construct},
    "SequenceEmpty": {11: import_empty},
    "SequenceErase": {11: import_erase},
    "SequenceInsert": {11: import_insert},
    "SequenceLength": {11: import_length},
    "SequenceMap": {17: import_map},
    "SplitToSequence": {11: import_split},
}

READERS = frozenset({*TABLE, "Identity", "If", "Loop"})
"""The operators that accept sequences and optionals."""
