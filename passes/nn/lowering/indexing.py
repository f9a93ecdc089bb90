"""Lowering of gathers (reads at computed indices) and scatters (folds over the updates).

A negative index counts from the end of its axis. ONNX forbids an index outside of the axis, but
only the running kernel could detect one. Such an index accesses no memory outside of the tensor: a
gather reads the nearest element of the axis, a scatter drops the update.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineExpr

from ....dialects import nn
from ....dialects.nn import ScatterReduction
from ....errors import CloptError
from ...locations import node_name
from .body import Body, Index
from .kernel import Accumulator, KernelBuilder
from .scalar import Number, ScalarValue, extremes
from .shape import flatten, unflatten


def _wrapped(value: ScalarValue, size: int) -> ScalarValue:
    """Return an index as a 32-bit number from the front of an axis with `size` elements."""
    position = value.cast(i32)
    if nn.is_unsigned(value.element_type):
        return position
    return position.compare("lt", 0).select(position + size, position)


def _gathered(body: Body, value: ScalarValue, size: int) -> Index:
    """Return the position that an index of a gather reads."""
    return body.dynamic_index(_wrapped(value, size).max(0).min(size - 1), size)


def _require_elements(op: nn.GatherOp | nn.GatherElementsOp | nn.GatherNDOp) -> None:
    if 0 in nn.shape_of(op.x) and 0 not in nn.shape_of(op.result):
        raise CloptError(
            f"{node_name(op)}: cannot gather from a tensor without elements; give it elements"
        )


def lower_gather(kernel: KernelBuilder, op: nn.GatherOp) -> None:
    """Define `y[a.., i.., b..] = x[a.., indices[i..], b..]`."""
    _require_elements(op)
    axis, rank = op.axis.value.data, len(nn.shape_of(op.indices))
    size = nn.shape_of(op.x)[axis]

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        chosen = body.read(op.indices, index[axis : axis + rank])
        position = _gathered(body, chosen, size)
        return body.read(op.x, [*index[:axis], position, *index[axis + rank :]])

    kernel.define(op.result, element)


def lower_gather_elements(kernel: KernelBuilder, op: nn.GatherElementsOp) -> None:
    """Define `y[a.., i, b..] = x[a.., indices[a.., i, b..], b..]`."""
    _require_elements(op)
    axis = op.axis.value.data
    size = nn.shape_of(op.x)[axis]

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        position = _gathered(body, body.read(op.indices, index), size)
        return body.read(op.x, [*index[:axis], position, *index[axis + 1 :]])

    kernel.define(op.result, element)


def lower_gather_nd(kernel: KernelBuilder, op: nn.GatherNDOp) -> None:
    """Define `y[b.., i.., t..] = x[b.., *indices[b.., i.., :], t..]`."""
    _require_elements(op)
    x_shape, indices_shape = nn.shape_of(op.x), nn.shape_of(op.indices)
    batch, depth, rank = op.batch_dims.value.data, indices_shape[-1], len(indices_shape) - 1

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        vector = [
            _gathered(body, body.read(op.indices, [*index[:rank], entry]), x_shape[batch + i])
            for i, entry in _entries(depth)
        ]
        return body.read(op.x, [*index[:batch], *vector, *index[rank:]])

    kernel.define(op.result, element)


def _entries(depth: int) -> list[tuple[int, Index]]:
    return [(i, AffineExpr.constant(i)) for i in range(depth)]


@dataclass(frozen=True)
class Combine:
    """A scatter's fold over updates, from a neutral value up to x's element."""

    start: Callable[[Attribute], Number]
    combine: Callable[[ScalarValue, ScalarValue], ScalarValue]


COMBINE: dict[ScatterReduction, Combine] = {
    ScatterReduction.ADD: Combine(lambda _: 0, lambda a, b: a + b),
    ScatterReduction.MUL: Combine(lambda _: 1, lambda a, b: a * b),
    ScatterReduction.MAX: Combine(lambda type_: extremes(type_)[0], lambda a, b: a.max(b)),
    ScatterReduction.MIN: Combine(lambda type_: extremes(type_)[1], lambda a, b: a.min(b)),
}


@dataclass(frozen=True)
class Updates:
    """A scatter as seen from an element of its result: numbered updates that may hit it."""

    extents: Sequence[int]
    """The extents of an update's number, which is a reduce index."""
    key_rank: int
    """Number of leading dimensions of the element's index that decide which updates hit it."""
    meets: Callable[[Body, Sequence[Index], Sequence[Index]], ScalarValue]
    """Returns whether an update hits the element at an index."""
    at: Callable[[Sequence[Index], Sequence[Index]], Sequence[Index]]
    """Returns the index in the updates for an element's index and an update's number."""


def _scatter(
    kernel: KernelBuilder, op: nn.ScatterElementsOp | nn.ScatterNDOp, updates: Updates
) -> None:
    """Define the result element by element, so that no two work-items write to one location.

    The updates that hit an element are folded in order; without a reduction the last one wins.
    """
    if op.reduction.data is ScatterReduction.NONE:
        _replace(kernel, op, updates)
    else:
        _combine(kernel, op, updates, COMBINE[op.reduction.data])


def _replace(
    kernel: KernelBuilder, op: nn.ScatterElementsOp | nn.ScatterNDOp, updates: Updates
) -> None:
    shape, extents = nn.shape_of(op.result), updates.extents

    def update(
        body: Body, index: Sequence[Index], reduced: Sequence[Index], so_far: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        number = body.index_scalar(flatten(reduced, extents), i32)
        return [updates.meets(body, index, reduced).select(number, so_far[0])]

    (last,) = kernel.reduction(
        "last_update", shape[: updates.key_rank], extents, [Accumulator(i32, -1)], update
    )

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        number = last(body, index[: updates.key_rank])

        def updated() -> ScalarValue:
            flat = body.dynamic_index(number, prod(extents))
            return body.read(op.updates, updates.at(index, unflatten(flat, extents)))

        is_hit = number.compare("ge", 0)
        return body.where(is_hit, updated, lambda: body.read(op.x, index))

    kernel.define(op.result, element)


def _combine(
    kernel: KernelBuilder, op: nn.ScatterElementsOp | nn.ScatterNDOp, updates: Updates, row: Combine
) -> None:
    shape, element_type = nn.shape_of(op.result), nn.tensor_type(op.result).element_type

    def update(
        body: Body, index: Sequence[Index], reduced: Sequence[Index], so_far: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        (total,) = so_far
        met = updates.meets(body, index[: updates.key_rank], reduced)

        def combined() -> ScalarValue:
            return row.combine(total, body.read(op.updates, updates.at(index, reduced)))

        return [body.where(met, combined, lambda: total)]

    start = Accumulator(element_type, row.start(element_type))
    (total,) = kernel.reduction("updates", shape, updates.extents, [start], update)
    kernel.define(
        op.result,
        lambda body, index: row.combine(body.read(op.x, index), total(body, index)),
    )


def lower_scatter_elements(kernel: KernelBuilder, op: nn.ScatterElementsOp) -> None:
    """Define `y[.., indices[a.., j, b..], ..] = updates[a.., j, b..]` over a copy of x."""
    x_shape, indices_shape = nn.shape_of(op.x), nn.shape_of(op.indices)
    axis = op.axis.value.data

    def at(index: Sequence[Index], reduced: Sequence[Index]) -> list[Index]:
        return [*index[:axis], *reduced, *index[axis + 1 :]]

    def meets(body: Body, index: Sequence[Index], reduced: Sequence[Index]) -> ScalarValue:
        source = at(index, reduced)

        def match() -> ScalarValue:
            position = _wrapped(body.read(op.indices, source), x_shape[axis])
            return position.compare("eq", body.index_scalar(index[axis], i32))

        inside = body.inside(source, indices_shape)
        return match() if inside is None else body.where(inside, match, False)

    _scatter(kernel, op, Updates([indices_shape[axis]], len(x_shape), meets, at))


def lower_scatter_nd(kernel: KernelBuilder, op: nn.ScatterNDOp) -> None:
    """Define `y[*indices[j.., :], t..] = updates[j.., t..]` over a copy of x."""
    x_shape = nn.shape_of(op.x)
    *extents, depth = nn.shape_of(op.indices)

    def at(index: Sequence[Index], reduced: Sequence[Index]) -> list[Index]:
        return [*reduced, *index[depth:]]

    def meets(body: Body, index: Sequence[Index], reduced: Sequence[Index]) -> ScalarValue:
        met = body.constant(True, i1)
        for i, entry in _entries(depth):
            position = _wrapped(body.read(op.indices, [*reduced, entry]), x_shape[i])
            same = position.compare("eq", body.index_scalar(index[i], i32))
            met = same if i == 0 else met & same
        return met

    _scatter(kernel, op, Updates(extents, depth, meets, at))


def lower_insert_slice(kernel: KernelBuilder, op: nn.InsertSliceOp) -> None:
    """Define `y[.., start + j, ..] = inserted[.., j, ..]` over a copy of x."""
    axis, size = op.axis.value.data, nn.shape_of(op.inserted)[op.axis.value.data]
    rank = len(nn.shape_of(op.start))

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        at = body.index_scalar(index[axis], i32) - body.read(op.start, index[:rank]).cast(i32)

        def inserted() -> ScalarValue:
            position = body.dynamic_index(at, size)
            return body.read(op.inserted, [*index[:axis], position, *index[axis + 1 :]])

        is_inside = at.compare("ge", 0) & at.compare("lt", size)
        return body.where(is_inside, inserted, lambda: body.read(op.x, index))

    kernel.define(op.result, element if size else lambda body, index: body.read(op.x, index))
