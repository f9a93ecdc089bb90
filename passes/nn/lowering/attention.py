"""Lowering of attention; queries are the last dimension of every intermediate tensor.

Each stage writes a temporary, so that a schedule can keep the scores of a few queries in cache or
local memory. It can then reduce them over the keys without sums across the lanes of a vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from xdsl.ir.affine import AffineExpr

from ....dialects import nn
from .body import Body, Index
from .elementwise import broadcast_index
from .kernel import Accumulator, KernelBuilder
from .scalar import ScalarValue

_FIRST = AffineExpr.constant(0)
"""The index of the only element that an iteration of a stage computes."""


def lower_attention_scores(kernel: KernelBuilder, op: nn.AttentionScoresOp) -> None:
    """Define `s[…, q, k] = sum over d of x[…, q, d] y[…, k, d]`, from a transposed copy of x."""
    *x_batch, queries, depth = nn.shape_of(op.queries)
    *y_batch, keys, _ = nn.shape_of(op.keys)
    *batch, _, _ = nn.shape_of(op.result)
    element_type = nn.tensor_type(op.result).element_type

    def transposed(body: Body, index: Sequence[Index]) -> ScalarValue:
        *at, d, q = index
        return body.read(op.queries, [*at, q, d])

    names = [f"b{i}" for i in range(len(batch))]
    copy = kernel.computed(
        "queries",
        (*x_batch, depth, queries),
        [transposed],
        element_type,
        (*names[len(batch) - len(x_batch) :], "d", "q"),
        role="attention.queries",
    )

    def update(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], sums: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        *at, k, q = index
        (d,) = reduce
        x = copy(body, [_FIRST, *broadcast_index(at, x_batch), d, q])
        return [sums[0] + x * body.read(op.keys, [*broadcast_index(at, y_batch), k, d])]

    (products,) = kernel.reduction(
        "products",
        (*batch, keys, queries),
        [depth],
        [Accumulator(element_type, 0)],
        update,
        (*names, "k", "q", "d"),
        role="attention.products",
    )
    kernel.define(
        op.result, lambda body, index: products(body, [*index[:-2], index[-1], index[-2]])
    )


def lower_attention(kernel: KernelBuilder, op: nn.AttentionOp) -> None:
    """Define `y[…, q, n] = (sum over k of w[…, q, k] v[…, k, n]) / sum over k of w[…, q, k]`.

    w is `exp(s - max)`, so that no exponential overflows, and one division serves a whole query.
    """
    *s_batch, queries, keys = nn.shape_of(op.scores)
    *v_batch, _, columns = nn.shape_of(op.values)
    *batch, _, _ = nn.shape_of(op.result)
    type_ = nn.tensor_type(op.result).element_type
    names = [f"b{i}" for i in range(len(batch))]
    near, outer = names[len(batch) - len(s_batch) :], len(s_batch)
    grid, axes = (*s_batch, keys, queries), (*near, "k", "q")

    def read(body: Body, index: Sequence[Index]) -> ScalarValue:
        *at, k, q = index
        return body.read(op.scores, [*at, q, k])

    scores = kernel.computed("scores", grid, [read], type_, axes, "attention.scores")

    def maximum(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], so_far: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        return [so_far[0].max(scores(body, [_FIRST, *index[:outer], *reduce, index[-1]]))]

    (largest,) = kernel.reduction(
        "max",
        (*s_batch, queries),
        [keys],
        [Accumulator(type_, -inf)],
        maximum,
        (*near, "q", "k"),
        role="attention.largest",
    )

    def weight(body: Body, index: Sequence[Index]) -> ScalarValue:
        shifted = scores(body, [_FIRST, *index]) - largest(body, [*index[:outer], index[-1]])
        return shifted.call("exp")

    weights = kernel.computed("weights", grid, [weight], type_, axes, "attention.weights")

    def add(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], sums: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        return [sums[0] + weights(body, [_FIRST, *index[:outer], *reduce, index[-1]])]

    (total,) = kernel.reduction(
        "sum",
        (*s_batch, queries),
        [keys],
        [Accumulator(type_, 0)],
        add,
        (*near, "q", "k"),
        role="attention.total",
    )
    shares = kernel.computed(
        "share",
        (*s_batch, queries),
        [lambda body, index: body.constant(1, type_).ratio(total(body, index))],
        type_,
        (*near, "q"),
        role="attention.shares",
    )

    def update(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], sums: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        *at, q, n = index
        w = weights(body, [_FIRST, *broadcast_index(at, s_batch), *reduce, q])
        return [sums[0] + w * body.read(op.values, [*broadcast_index(at, v_batch), *reduce, n])]

    (products,) = kernel.reduction(
        "weighted",
        (*batch, queries, columns),
        [keys],
        [Accumulator(type_, 0)],
        update,
        (*names, "q", "n", "k"),
        role="attention.weighted",
    )

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        *at, q, _ = index
        return products(body, index) * shares(body, [_FIRST, *broadcast_index(at, s_batch), q])

    kernel.define(op.result, element)
