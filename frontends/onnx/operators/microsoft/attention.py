"""Attention: products of heads, masks, and a softmax, which passes fuse into one kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from .....dialects import nn
from .....dialects.nn.types import shape_of
from ....builder import Builder, dtype_of_value
from ...node import NodeContext, Results, Table
from ..quantization import centred
from .fused import with_bias
from .integer_products import scaled_product

DEFAULT_FILTER = -10000.0
"""The number that onnxruntime adds to the scores of masked keys by default."""


def split_heads(builder: Builder, x: SSAValue, heads: int) -> SSAValue:
    """Return [batch, sequence, heads * size] as [batch, heads, sequence, size]."""
    batch, length, width = shape_of(x)
    parts = builder.reshape(x, (batch, length, heads, width // heads))
    return builder.transpose(parts, (0, 2, 1, 3))


def merged_heads(builder: Builder, x: SSAValue) -> SSAValue:
    """Return [batch, heads, sequence, size] as [batch, sequence, heads * size]."""
    batch, heads, length, size = shape_of(x)
    return builder.reshape(builder.transpose(x, (0, 2, 1, 3)), (batch, length, heads * size))


def scaled_scores(node: NodeContext, q: SSAValue, k: SSAValue) -> SSAValue:
    """Multiply queries and keys, scaled by the attribute `scale` or by the size of a head."""
    scale = node.real("scale", 0.0) or 1 / math.sqrt(shape_of(q)[-1])
    scores = node.builder.matmul(q, k, transpose_b=True)
    return node.builder.binary("mul", scores, scale)


def attend(
    node: NodeContext, q: SSAValue, k: SSAValue, v: SSAValue, past: int, mask: int, bias: int
) -> tuple[SSAValue, SSAValue]:
    """Weigh `v` by the softmax of masked scores. Return the merged heads, and the scores.

    The heads have the form [batch, heads, sequence, size]; the first `past` keys precede the
    queries. `mask` and `bias` are the positions of inputs.
    """
    builder, scores = node.builder, scaled_scores(node, q, k)
    batch, _, length, total = shape_of(scores)
    value = node.real("mask_filter_value", DEFAULT_FILTER)
    if (given := node.optional(mask)) is not None:
        is_live = _live_keys(node, given, (batch, length, total))
        zero, filtered = builder.scalar(0, scores), builder.scalar(value, scores)
        scores = builder.binary("add", scores, builder.where(is_live, zero, filtered))
    if node.flag("unidirectional") and length > 1:
        builder.reserve(length, total)
        dtype = dtype_of_value(scores)
        least = np.where(np.tri(length, total, past, dtype=np.bool_), 0, np.finfo(dtype).min)
        scores = builder.binary("add", scores, builder.constant(least.astype(dtype)))
    if (added := node.optional(bias)) is not None:
        scores = builder.binary("add", scores, added)
    weights = builder.add(nn.SoftmaxOp(scores, -1))
    return merged_heads(builder, builder.matmul(weights, v)), scores


def _live_keys(node: NodeContext, mask: SSAValue, extents: tuple[int, int, int]) -> SSAValue:
    """Return which keys are not masked, in a shape that broadcasts to the scores.

    A mask has an entry per key, or per query and key. A vector has the numbers of keys, which may
    be followed by the first keys.
    """
    builder, (batch, length, total), shape = node.builder, extents, shape_of(mask)
    if len(shape) == 1:
        return _within(node, builder.cast(mask, i64), batch, total)
    if shape == (batch, total):
        mask = builder.reshape(mask, (batch, 1, 1, total))
    elif shape == (batch, length, total):
        mask = builder.reshape(mask, (batch, 1, length, total))
    else:
        node.refuse(f"its mask of shape {list(shape)} does not match the scores.")
    return builder.compare("ne", mask, 0)


def _within(node: NodeContext, bounds: SSAValue, batch: int, total: int) -> SSAValue:
    """Return which keys are before the ends in a vector, and not before its starts if it has any.

    A vector of the third form has the ends first; the offsets that follow concern packed queries.
    """
    builder, count = node.builder, shape_of(bounds)[0]
    if count not in (batch, 2 * batch, 3 * batch + 2):
        node.refuse(f"its mask has {count} lengths for a batch of {batch}.")
    ends, *starts = (
        builder.reshape(builder.slice(bounds, 0, first, batch), (batch, 1, 1, 1))
        for first in (range(0, 2 * batch, batch) if count == 2 * batch else [0])
    )
    places = builder.positions(total, 3, 4)
    is_live = builder.compare("lt", places, ends)
    for start in starts:
        is_live = builder.binary("and", is_live, builder.compare("ge", places, start))
    return is_live


def import_attention(node: NodeContext) -> Results:
    """Import Attention: a projection to queries, keys and values of one sequence."""
    node.check_rank(0, 3, 3)
    projected = with_bias(node, node.builder.matmul(node.input(0), node.input(1)), 2)
    return _self_attention(node, projected, mask=3, past=4, bias=5)


def import_qattention(node: NodeContext) -> Results:
    """Import QAttention: Attention with a projection in integers."""
    builder = node.builder
    node.check_rank(0, 3, 3)
    a = centred(builder, node.input(0), node.optional(6))
    b = centred(builder, node.input(1), node.optional(7))
    step = builder.binary("mul", node.input(3), node.input(4))
    projected = with_bias(node, scaled_product(builder, a, b, step), 2)
    return _self_attention(node, projected, mask=5, past=8, bias=9)


def _self_attention(
    node: NodeContext, projected: SSAValue, mask: int, past: int, bias: int
) -> Results:
    """Attend to a sequence; `past` is an input that has its keys and values so far."""
    builder, heads = node.builder, node.integer("num_heads")
    if node.flag("do_rotary") or node.flag("past_present_share_buffer"):
        node.refuse("do_rotary and past_present_share_buffer are not supported.")
    third = shape_of(projected)[-1] // 3
    sizes = node.integers("qkv_hidden_sizes") or (third,) * 3
    if heads < 1 or len(sizes) != 3 or any(size % heads for size in sizes):
        node.refuse(f"hidden sizes of {list(sizes)} do not divide into {heads} heads.")
    starts = (0, sizes[0], sizes[0] + sizes[1])
    q, k, v = (
        split_heads(builder, builder.slice(projected, 2, start, size), heads)
        for start, size in zip(starts, sizes, strict=True)
    )
    length = 0
    if (given := node.optional(past)) is not None:
        node.check_rank(past, 5, 5)
        length = shape_of(given)[3]
        halves = [builder.slice(given, 0, i, 1) for i in range(2)]
        states = [builder.reshape(half, shape_of(given)[1:]) for half in halves]
        k, v = (builder.concat(pair, 2) for pair in zip(states, (k, v), strict=True))
    y, _ = attend(node, q, k, v, length, mask, bias)
    if not node.wants(1):
        return y
    parts = [builder.reshape(each, (1, *shape_of(each))) for each in (k, v)]
    return [y, builder.concat(parts, 0)]


def import_multi_head_attention(node: NodeContext) -> Results:
    """Import MultiHeadAttention: queries, keys and values are inputs, packed or apart."""
    builder, heads = node.builder, node.integer("num_heads")
    if node.optional(8) is not None or node.optional(9) is not None:
        node.refuse("shared buffers and beams (inputs 8 and 9) are not supported.")
    q, k, v = _biased(node, _heads_of_inputs(node, heads))
    length = 0
    states = [node.optional(index) for index in (6, 7)]
    if states[0] is not None and states[1] is not None:
        length = shape_of(states[0])[2]
        k, v = builder.concat([states[0], k], 2), builder.concat([states[1], v], 2)
    y, scores = attend(node, q, k, v, length, 4, 5)
    return [y, k, v, scores]


def _heads_of_inputs(node: NodeContext, heads: int) -> Sequence[SSAValue]:
    """Return queries, keys and values as [batch, heads, sequence, size]."""
    builder = node.builder
    if node.rank() == 5:
        return [_unpacked(node, 0, i) for i in range(3)]
    node.check_rank(0, 3, 3)
    if node.shape()[2] % heads:
        node.refuse(f"{node.shape()[2]} elements do not divide into {heads} heads.")
    q = split_heads(builder, node.input(0), heads)
    if node.rank(1) == 5:
        return [q, *(_unpacked(node, 1, i) for i in range(2))]
    return [q, *(_of_heads(node, index, heads) for index in (1, 2))]


def _of_heads(node: NodeContext, index: int, heads: int) -> SSAValue:
    """Return an input with its heads apart, which may be so already."""
    node.check_rank(index, 3, 4)
    value = node.input(index)
    return value if node.rank(index) == 4 else split_heads(node.builder, value, heads)


def _unpacked(node: NodeContext, index: int, part: int) -> SSAValue:
    """Return one part of [batch, sequence, heads, parts, size]."""
    builder, (batch, length, heads, _, size) = node.builder, node.shape(index)
    value = builder.slice(node.input(index), 3, part, 1)
    return builder.transpose(builder.reshape(value, (batch, length, heads, size)), (0, 2, 1, 3))


def _biased(node: NodeContext, parts: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Add to queries, keys and values their parts of the bias, a vector."""
    builder, bias, start = node.builder, node.optional(3), 0
    if bias is None:
        return parts
    found: list[SSAValue] = []
    for part in parts:
        _, heads, _, size = shape_of(part)
        piece = builder.slice(bias, 0, start, heads * size)
        found.append(builder.binary("add", part, builder.reshape(piece, (1, heads, 1, size))))
        start += heads * size
    return found


TABLE: Table = {
    "Attention": {1: import_attention},
    "MultiHeadAttention": {1: import_multi_head_attention},
    "QAttention": {1: import_qattention},
}
