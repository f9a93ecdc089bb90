"""Reductions, running sums, and choosing by size."""

from __future__ import annotations

import numpy as np

from ..builder import SIGNED, GraphBuilder
from ..values import Value

KINDS = ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
         "ReduceLogSumExp", "ReduceSumSquare", "ReduceProd")  # fmt: skip


def _reduce(g: GraphBuilder, kind: str, x: Value) -> None:
    keep = g.one_of(0, 1, None)
    axes = [a - x.rank if g.chance(0.3) else a for a in g.axes(x.rank)]
    if g.chance(0.15):
        g.op(kind, x, keepdims=keep)
    elif g.opset >= (13 if kind == "ReduceSum" else 18):
        g.op(kind, x, g.ints(*axes), keepdims=keep)
    else:
        g.op(kind, x, axes=axes, keepdims=keep)


def reduce(g: GraphBuilder) -> None:
    """A reduction of floats over some axes, or all."""
    _reduce(g, g.random.choice(KINDS), g.pick())


def reduce_integers(g: GraphBuilder) -> None:
    """A reduction of integers."""
    _reduce(g, g.one_of("ReduceSum", "ReduceMax", "ReduceMin"), g.pick(SIGNED))


def arg_reduce(g: GraphBuilder) -> None:
    """Where the largest or smallest element is; of equal ones the first or the last."""
    x = g.pick((np.float32, np.int32))
    kind = g.one_of("ArgMax", "ArgMin")
    last = g.one_of(0, 1)
    g.op(kind, x, axis=g.axis(x.rank), keepdims=g.one_of(0, 1), select_last_index=last)


def cum_sum(g: GraphBuilder) -> None:
    """CumSum along an axis."""
    x = g.pick()
    axis = g.constant(g.axis(x.rank), "int64")
    g.op("CumSum", x, axis, exclusive=g.one_of(0, 1), reverse=g.one_of(0, 1))


def top_k(g: GraphBuilder) -> None:
    """TopK, sorted."""
    x = g.pick()
    axis = g.axis(x.rank)
    count = g.random.randint(1, x.shape[axis])
    g.op("TopK", x, g.ints(count), outputs=2, axis=axis, largest=g.one_of(0, 1), sorted=1)


OPERATORS = {
    "reduce": (6, reduce),
    "reduce_integers": (1, reduce_integers),
    "arg_reduce": (2, arg_reduce),
    "cum_sum": (1, cum_sum),
    "top_k": (2, top_k),
}
