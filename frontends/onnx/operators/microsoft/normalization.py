"""Normalisations of sums and of embeddings, and group normalisation with an activation."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from .....dialects import nn
from .....dialects.nn.types import shape_of
from ...node import NodeContext, Results, Table
from .channels_last import to_first, to_last
from .fused import with_bias


def import_skip_layer_norm(node: NodeContext) -> Results:
    """Import SkipLayerNormalization: a layer normalisation of a sum; the sum is output 3."""
    total = with_bias(node, with_bias(node, node.input(0), 1), 4)
    epsilon = node.real("epsilon", 1e-12)
    y = node.add(nn.LayerNormOp(total, node.input(2), node.optional(3), -1, epsilon))
    return [y, None, None, total]


def import_skip_rms_norm(node: NodeContext) -> Results:
    """Import SkipSimplifiedLayerNormalization: an RMS normalisation of a sum, which is output 3."""
    total = with_bias(node, with_bias(node, node.input(0), 1), 3)
    y = node.add(nn.RmsNormOp(total, node.input(2), -1, node.real("epsilon", 1e-12)))
    return [y, None, None, total]


def import_embed_layer_norm(node: NodeContext) -> Results:
    """Import EmbedLayerNormalization: normalised sums of embeddings, and the lengths of the mask.

    Positions count from 0 unless input 8 has them.
    """
    builder, tokens = node.builder, node.input(0)
    node.check_rank(0, 2, 2)
    node.check_rank(3, 2, 2)
    batch, length = node.shape()
    total = builder.gather(node.input(2), tokens, 0)
    if (positions := node.optional(8)) is not None:
        placed = builder.gather(node.input(3), positions, 0)
    elif length > node.shape(3)[0]:
        node.refuse(f"has {node.shape(3)[0]} positions, which is less than {length}.")
    else:
        placed = builder.slice(node.input(3), 0, 0, length)
    total = builder.binary("add", total, placed)
    segments, table = node.optional(1), node.optional(4)
    if segments is not None and table is not None:
        total = builder.binary("add", total, builder.gather(table, segments, 0))
    epsilon = node.real("epsilon", 1e-12)
    y = node.add(nn.LayerNormOp(total, node.input(5), node.input(6), -1, epsilon))
    node.integer("mask_index_type", 0)
    return [y, _lengths(node, batch), total]


def _lengths(node: NodeContext, batch: int) -> SSAValue:
    """Return the number of tokens of each sample that are not masked; zeros without a mask."""
    mask = node.optional(7)
    if mask is None:
        return node.builder.constant(np.zeros(batch, np.int32))
    return node.builder.reduce("sum", node.builder.cast(mask, i32), [1], keepdims=False)


def import_skip_group_norm(node: NodeContext) -> Results:
    """Import SkipGroupNorm: GroupNorm of a sum with a skip connection; the sum is output 1."""
    skip = node.input(3)
    last = node.flag("channels_last", True)
    if len(shape_of(skip)) == 2:
        batch, channels = shape_of(skip)
        ones = [1] * (node.rank() - 2)
        shape = (batch, *ones, channels) if last else (batch, channels, *ones)
        node.replace(3, node.builder.reshape(skip, shape))
    if (bias := node.optional(4)) is not None and not last:
        column = (*shape_of(bias), *[1] * (node.rank() - 2))
        node.replace(4, node.builder.reshape(bias, column))
    total = with_bias(node, with_bias(node, node.input(0), 3), 4)
    return [_group_norm(node, total), total]


def _group_norm(node: NodeContext, x: SSAValue) -> SSAValue:
    """Append a group normalisation, followed by SiLU if `activation` is 1."""
    builder, last = node.builder, node.flag("channels_last", True)
    groups, epsilon = node.integer("groups"), node.real("epsilon", 1e-5)
    x = to_first(builder, x) if last else x
    y = node.add(nn.GroupNormOp(x, node.input(1), node.input(2), groups, epsilon))
    if node.flag("activation"):
        y = builder.unary("silu", y)
    return to_last(builder, y) if last else y


TABLE: Table = {
    "EmbedLayerNormalization": {1: import_embed_layer_norm},
    "GroupNorm": {1: lambda node: _group_norm(node, node.input(0))},
    "SkipGroupNorm": {1: import_skip_group_norm},
    "SkipLayerNormalization": {1: import_skip_layer_norm},
    "SkipSimplifiedLayerNormalization": {1: import_skip_rms_norm},
}
