"""Attention whose queries share keys and values in groups, with a cache of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from .....dialects import nn
from .....dialects.nn.types import shape_of
from ....builder import Builder, dtype_of_value
from ...node import NodeContext, Results, Table
from .attention import merged_heads, scaled_scores, split_heads
from .rotary import read_rotation

_REFUSED = ("kv_cache_bit_width", "sliding_window_cache", "qk_output")
_REFUSED_INPUTS = range(12, 17)
"""Scales of a quantised cache, norms of queries and keys, lengths of queries."""


@dataclass(frozen=True)
class Cache:
    """Where new keys and values go in a cache of `length` entries."""

    builder: Builder
    length: int
    starts: SSAValue
    """[batch]: where the first new entry goes."""

    def extended(self, past: SSAValue | None, new: SSAValue) -> SSAValue:
        """Append `new`, [batch, heads, new, size], to the cache `past`."""
        builder, (batch, heads, count, size) = self.builder, shape_of(new)
        held = [] if past is None or not shape_of(past)[2] else [past]
        filled = sum(shape_of(each)[2] for each in held)
        if count == self.length and not held:
            return new
        if filled < self.length:
            shape = (batch, heads, self.length - filled, size)
            held.append(builder.expand(builder.scalar(0, new), shape))
        return builder.add(nn.InsertSliceOp(builder.concat(held, 2), new, self.starts, 2))


def import_grouped_query_attention(node: NodeContext) -> Results:
    """Import GroupQueryAttention: causal attention to a cache that the new keys extend.

    Keys past the end of a sequence are masked, because its cache may be longer.
    """
    builder, heads, groups = node.builder, node.integer("num_heads"), node.integer("kv_num_heads")
    _check(node, heads, groups)
    q, k, v = _parts(node, heads, groups)
    batch, _, length, size = shape_of(q)
    total = node.constant_int(6, "total sequence length")
    ends = builder.binary("add", builder.cast(node.input(5), i64), 1)
    # The queries of a first prompt may be longer than the sequence, which then starts at 0.
    starts = builder.binary("max", builder.binary("sub", ends, length), 0)
    positions = builder.binary(
        "add", builder.reshape(starts, (batch, 1)), builder.positions(length, 1, 2)
    )
    if node.flag("do_rotary"):
        placed = positions if node.optional(9) is None else node.input(9)
        interleaved = node.flag("rotary_interleaved")
        rotation = read_rotation(builder, node.input(7), node.input(8), placed, interleaved)
        q, k = rotation.apply(builder, q), rotation.apply(builder, k)
    held = 0 if node.optional(3) is None else node.shape(3)[2]
    cache = Cache(builder, max(held, total), builder.reshape(starts, (batch,)))
    k, v = cache.extended(node.optional(3), k), cache.extended(node.optional(4), v)
    # Slices of whole caches stay until proofs have compared the network with smaller ones.
    shape = (batch, groups, total, size)
    live = [builder.add(nn.SliceOp(each, [0] * 4, shape, [1] * 4)) for each in (k, v)]
    keys, values = (builder.reshape(each, (batch, groups, 1, total, size)) for each in live)
    queries = builder.reshape(q, (batch, groups, heads // groups, length, size))
    scores = _masked(node, scaled_scores(node, queries, keys), positions)
    y = builder.matmul(_weights(node, scores), values)
    return [merged_heads(builder, builder.reshape(y, (batch, heads, length, size))), k, v]


def _check(node: NodeContext, heads: int, groups: int) -> None:
    """Refuse what the decomposition does not have."""
    for name in _REFUSED:
        if node.integer(name, 0):
            node.refuse(f"{name} is not supported.")
    for name in ("k_quant_type", "v_quant_type"):
        node.choice(name, "NONE", ("NONE",))
    for name in ("q_norm_epsilon", "k_norm_epsilon", "qk_norm_epsilon"):
        node.real(name, 0.0)
    if any(node.optional(index) is not None for index in _REFUSED_INPUTS):
        node.refuse("its inputs from 12 on are not supported.")
    if not node.flag("causal", True):
        node.refuse("attends to later keys (causal = 0), which is not supported.")
    if heads < 1 or groups < 1 or heads % groups:
        node.refuse(f"{heads} heads do not divide into {groups} groups.")
    node.check_rank(0, 3, 3)


def _parts(node: NodeContext, heads: int, groups: int) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Return queries, keys and values, which may be packed in the first input, with heads apart."""
    builder, x = node.builder, node.input(0)
    if node.optional(1) is not None:
        k, v = (split_heads(builder, node.input(index), groups) for index in (1, 2))
        return split_heads(builder, x, heads), k, v
    packed = split_heads(builder, x, heads + 2 * groups)
    q = builder.slice(packed, 1, 0, heads)
    k, v = (builder.slice(packed, 1, first, groups) for first in (heads, heads + groups))
    return q, k, v


def _masked(node: NodeContext, scores: SSAValue, positions: SSAValue) -> SSAValue:
    """Cap scores [batch, groups, queries per group, sequence, total], and hide later keys."""
    builder, (batch, groups, share, length, total) = node.builder, shape_of(scores)
    if softcap := node.real("softcap", 0.0):
        capped = builder.unary("tanh", builder.binary("div", scores, softcap))
        scores = builder.binary("mul", capped, softcap)
    if (bias := node.optional(10)) is not None:
        node.check_rank(10, 4, 4)
        outer, inner = shape_of(bias)[:2]
        parts = (1, 1) if inner == 1 else (groups, share)
        scores = builder.binary(
            "add", scores, builder.reshape(bias, (outer, *parts, length, total))
        )
    queries = builder.reshape(positions, (batch, 1, 1, length, 1))
    keys = builder.positions(total, 4, 5)
    is_live = builder.compare("le", keys, queries)
    window = node.integer("local_window_size", -1)
    if window > 0:
        first = builder.binary("sub", queries, window)
        is_live = builder.binary("and", is_live, builder.compare("gt", keys, first))
    least = builder.scalar(float(np.finfo(dtype_of_value(scores)).min), scores)
    return builder.where(is_live, scores, least)


def _weights(node: NodeContext, scores: SSAValue) -> SSAValue:
    """Return the softmax of scores; a sink of each head takes a part of its sum."""
    builder, (batch, groups, share, length, total) = node.builder, shape_of(scores)
    sink, smooth = node.optional(11), node.flag("smooth_softmax")
    if sink is None and not smooth:
        return builder.add(nn.SoftmaxOp(scores, -1))
    column = builder.scalar(0, scores)
    if sink is not None:
        column = builder.reshape(sink, (1, groups, share, 1, 1))
    column = builder.expand(column, (batch, groups, share, length, 1))
    weights = builder.add(nn.SoftmaxOp(builder.concat([scores, column], 4), -1))
    return builder.slice(weights, 4, 0, total)


TABLE: Table = {"GroupQueryAttention": {1: import_grouped_query_attention}}
