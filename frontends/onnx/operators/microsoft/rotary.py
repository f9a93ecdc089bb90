"""Rotary embedding: rotates pairs of elements of each head by an angle per position."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from .....dialects.nn.types import shape_of
from ....builder import Builder
from ...node import NodeContext, Table
from .attention import merged_heads, split_heads


class Rotation(NamedTuple):
    """The angles of each position, and how the elements of a head form pairs."""

    cos: SSAValue
    """[batch or 1, 1, sequence, pairs]."""
    sin: SSAValue
    interleaved: bool
    """Whether the elements of a pair are neighbours, or half of the rotated part apart."""

    def apply(self, builder: Builder, x: SSAValue) -> SSAValue:
        """Rotate the first elements of heads [batch, heads, sequence, size]."""
        size, pairs = shape_of(x)[3], shape_of(self.cos)[3]
        rest = [builder.slice(x, 3, 2 * pairs, size - 2 * pairs)] if size > 2 * pairs else []
        step, second = (2, 1) if self.interleaved else (1, pairs)
        a, b = (builder.slice(x, 3, start, pairs, step) for start in (0, second))
        mul = partial(builder.binary, "mul")
        turned = [
            builder.binary("sub", mul(a, self.cos), mul(b, self.sin)),
            builder.binary("add", mul(b, self.cos), mul(a, self.sin)),
        ]
        if self.interleaved:
            shape = shape_of(turned[0])
            columns = [builder.reshape(part, (*shape, 1)) for part in turned]
            turned = [builder.reshape(builder.concat(columns, 4), (*shape[:3], 2 * pairs))]
        return builder.concat([*turned, *rest], 3)


def read_rotation(
    builder: Builder, cos: SSAValue, sin: SSAValue, positions: SSAValue, interleaved: bool
) -> Rotation:
    """Look up the angles of positions [batch or 1, sequence] in two tables."""
    batch, length = shape_of(positions)

    def angles(table: SSAValue) -> SSAValue:
        rows = builder.gather(table, positions, 0)
        return builder.reshape(rows, (batch, 1, length, shape_of(table)[1]))

    return Rotation(angles(cos), angles(sin), interleaved)


def import_rotary_embedding(node: NodeContext) -> SSAValue:
    """Import RotaryEmbedding of heads apart, or of heads side by side in the last dimension."""
    builder, x = node.builder, node.input(0)
    node.check_rank(0, 3, 4)
    for index in (2, 3):
        node.check_rank(index, 2, 2)
    if node.flag("is_packed_batching") or node.real("scale", 1.0) != 1.0:
        node.refuse("is_packed_batching and a scale are not supported.")
    node.integer("rotary_embedding_dim", 0)
    heads, together = node.integer("num_heads", 0), node.rank() == 3
    if together:
        heads = heads or node.shape()[2] // (2 * node.shape(2)[1])
        if heads < 1 or node.shape()[2] % heads:
            node.refuse(f"{node.shape()[2]} elements do not divide into {heads} heads.")
        x = split_heads(builder, x, heads)
    if 2 * node.shape(2)[1] > shape_of(x)[3]:
        node.refuse(f"has angles for {2 * node.shape(2)[1]} of {shape_of(x)[3]} elements.")
    positions = builder.cast(node.input(1), i64)
    if shape_of(positions) in ((), (1,)):
        steps = builder.constant(np.arange(shape_of(x)[2])[None])
        positions = builder.binary("add", steps, builder.reshape(positions, ()))
    interleaved = node.flag("interleaved")
    rotation = read_rotation(builder, node.input(2), node.input(3), positions, interleaved)
    y = rotation.apply(builder, x)
    return merged_heads(builder, y) if together else y


TABLE: Table = {"RotaryEmbedding": {1: import_rotary_embedding}}
