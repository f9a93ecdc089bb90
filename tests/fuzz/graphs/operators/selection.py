"""Gathers, scatters and what chooses elements by index."""

from __future__ import annotations

import numpy as np

from ..builder import ANY, BOOL, FLOAT, NUMBERS, GraphBuilder


def _indices(g: GraphBuilder, count: int, shape: tuple[int, ...]) -> np.ndarray:
    """Indices of an axis of `count` elements, at times counted from the end."""
    low = -count if g.chance(0.5) else 0
    return g.numbers.integers(low, count, shape).astype(g.one_of(np.int32, np.int64))


def gather(g: GraphBuilder) -> None:
    """Gather by constant indices of any rank."""
    x = g.pick(ANY)
    axis = g.axis(x.rank)
    shape = g.one_of((), (1,), (3,), (2, 2))
    g.op("Gather", x, g.constant(_indices(g, x.shape[axis], shape)), axis=axis)


def gather_computed(g: GraphBuilder) -> None:
    """Gather by indices that the graph computes: the positions of the largest elements."""
    x = g.pick(rank=(2, 3))
    y = g.op("ArgMax", x, axis=0, keepdims=0)
    g.op("Gather", g.weight(x.shape[0], g.extent()), y, axis=0)


def gather_elements(g: GraphBuilder) -> None:
    """GatherElements along an axis."""
    x = g.pick((np.float32, np.int32))
    axis = g.axis(x.rank)
    shape = [max(1, n - g.one_of(0, 0, 1)) for n in x.shape]
    indices = g.constant(_indices(g, x.shape[axis], tuple(shape)))
    g.op("GatherElements", x, indices, axis=axis)


def gather_nd(g: GraphBuilder) -> None:
    """GatherND of elements or slices."""
    x = g.pick(rank=(2, 3, 4))
    depth = g.random.randint(1, x.rank)
    rows = [g.numbers.integers(0, n, 3) for n in x.shape[:depth]]
    g.op("GatherND", x, g.constant(np.stack(rows, axis=-1), np.int64))


def scatter_elements(g: GraphBuilder) -> None:
    """ScatterElements to positions that differ."""
    x = g.pick(FLOAT, rank=(1, 2, 3))
    axis = g.random.randrange(x.rank)
    count = g.random.randint(1, x.shape[axis])
    rest = [1 if i == axis else n for i, n in enumerate(x.shape)]
    order = g.random.sample(range(x.shape[axis]), count)
    column = np.array(order).reshape([count if i == axis else 1 for i in range(x.rank)])
    indices = np.broadcast_to(column, [count if i == axis else n for i, n in enumerate(rest)])
    indices = np.tile(column, rest) if g.chance(0.5) else np.ascontiguousarray(indices)
    kind = g.one_of(None, "add") if g.opset >= 16 else None
    updates = g.weight(*indices.shape)
    g.op("ScatterElements", x, g.constant(indices, "int64"), updates, axis=axis, reduction=kind)


def scatter_nd(g: GraphBuilder) -> None:
    """ScatterND of rows that differ."""
    x = g.pick(FLOAT, rank=(1, 2, 3))
    count = g.random.randint(1, x.shape[0])
    rows = np.array(g.random.sample(range(x.shape[0]), count)).reshape(-1, 1)
    g.op("ScatterND", x, g.constant(rows, "int64"), g.weight(count, *x.shape[1:]))


def one_hot(g: GraphBuilder) -> None:
    """OneHot of computed indices."""
    x = g.pick(rank=(2, 3))
    depth = x.shape[-1]
    indices = g.op("ArgMin", x, axis=-1, keepdims=0)
    values = g.constant([-1.0, 2.0], "f")
    g.op("OneHot", indices, g.constant(depth + g.one_of(0, 1), "int64"), values, axis=-1)


def where(g: GraphBuilder) -> None:
    """Where, its condition a comparison or a mask."""
    x = g.pick(NUMBERS)
    y = g.broadcastable(x)
    if g.chance(0.5):
        condition = g.op(g.one_of("Less", "Greater", "Equal"), x, y)
    else:
        condition = g.weight(*x.shape, type=np.bool_)
    g.op("Where", condition, *g.one_of((x, y), (y, x)))


def trilu(g: GraphBuilder) -> None:
    """One triangle of matrices."""
    x = g.pick(rank=(2, 3, 4))
    diagonal = g.constant(g.one_of(-1, 0, 1), "int64") if g.chance(0.5) else None
    g.op("Trilu", x, diagonal, upper=g.one_of(0, 1))


def logic(g: GraphBuilder) -> None:
    """Logic on masks."""
    x = g.pick(BOOL)
    kind = g.one_of("And", "Or", "Xor", "Not")
    g.op(kind, x, *(() if kind == "Not" else (g.broadcastable(x),)))


def reverse_sequence(g: GraphBuilder) -> None:
    """ReverseSequence by lengths."""
    x = g.pick(rank=(2, 3, 4))
    time, batch = g.one_of((0, 1), (1, 0))
    lengths = g.numbers.integers(1, x.shape[time] + 1, x.shape[batch])
    g.op("ReverseSequence", x, g.constant(lengths, "int64"), time_axis=time, batch_axis=batch)


OPERATORS = {
    "gather": (3, gather),
    "gather_computed": (1, gather_computed),
    "gather_elements": (1, gather_elements),
    "gather_nd": (1, gather_nd),
    "scatter_elements": (1, scatter_elements),
    "scatter_nd": (1, scatter_nd),
    "one_hot": (1, one_hot),
    "where": (2, where),
    "trilu": (1, trilu),
    "logic": (1, logic),
    "reverse_sequence": (1, reverse_sequence),
}
