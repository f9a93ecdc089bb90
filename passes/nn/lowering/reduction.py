"""Lowering of reductions over axes, index reductions, cumulative sums and top-k."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, prod

from xdsl.dialects.builtin import f32, f64, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects import nn
from ....dialects.nn import ArgReduceKind, ReduceKind
from ....errors import CloptError
from ...locations import node_name
from .body import Body, Index
from .kernel import Accumulator, Element, KernelBuilder
from .scalar import Number, ScalarValue, extremes

ZERO = AffineExpr.constant(0)


@dataclass(frozen=True)
class Reducer:
    """A reduction: `finish(combine(… combine(start, map(x)) …), number of elements)`."""

    start: Callable[[Attribute], Number]
    combine: Callable[[ScalarValue, ScalarValue], ScalarValue]
    map: Callable[[ScalarValue], ScalarValue] = lambda x: x
    finish: Callable[[ScalarValue, int], ScalarValue] = lambda x, count: x
    real: bool = False
    """Whether integers are reduced as floating-point numbers and the result truncated."""
    wide: bool = False
    """Whether integers are reduced as i64: their own type may not hold a sum or the count."""
    ignores_zeros: bool = False
    """Whether zeros change nothing, so that the loop may run over the tail of a packed axis."""


def _add(a: ScalarValue, b: ScalarValue) -> ScalarValue:
    return a + b


def _square(x: ScalarValue) -> ScalarValue:
    return x * x


def _magnitude(x: ScalarValue) -> ScalarValue:
    if x.is_float:
        return x.call("abs")
    return x if nn.is_unsigned(x.element_type) else x.max(-x)


def _zero(_: Attribute) -> Number:
    return 0


FOLDS: dict[ReduceKind, Reducer] = {
    ReduceKind.SUM: Reducer(_zero, _add, ignores_zeros=True),
    ReduceKind.MEAN: Reducer(
        _zero, _add, finish=lambda x, count: x / count, wide=True, ignores_zeros=True
    ),
    ReduceKind.MAX: Reducer(lambda type_: extremes(type_)[0], lambda a, b: a.max(b)),
    ReduceKind.MIN: Reducer(lambda type_: extremes(type_)[1], lambda a, b: a.min(b)),
    ReduceKind.PROD: Reducer(lambda _: 1, lambda a, b: a * b),
    ReduceKind.L1: Reducer(_zero, _add, _magnitude, ignores_zeros=True),
    ReduceKind.L2: Reducer(
        _zero, _add, _square, lambda x, _: x.call("sqrt"), real=True, ignores_zeros=True
    ),
    ReduceKind.LOG_SUM: Reducer(
        _zero, _add, finish=lambda x, _: x.call("log"), real=True, ignores_zeros=True
    ),
    ReduceKind.SUM_SQUARE: Reducer(_zero, _add, _square, ignores_zeros=True),
}
"""The reductions that need one stage; log_sum_exp needs two."""


def real_type(element_type: Attribute) -> Attribute:
    """Return the floating-point type that holds every number of an element type."""
    if nn.is_float(element_type):
        return element_type
    return f64 if nn.numpy_dtype(element_type).itemsize > 2 else f32


def fold_axes(
    kernel: KernelBuilder,
    label: str,
    x_shape: Sequence[int],
    axes: Sequence[int],
    accumulator: Accumulator,
    update: Callable[[Body, list[Index], ScalarValue], ScalarValue],
    extents: Sequence[int] = (),
) -> Element:
    """Emit a stage that folds `update(body, index into x, so far)` over axes; return its element.

    The folded axes get extent 1. `extents` are those of x, with tails if the loops run over them.
    """
    extents = extents or x_shape
    shape = [1 if i in axes else size for i, size in enumerate(x_shape)]
    reduce = [x_shape[i] for i in axes]

    def step(
        body: Body, index: Sequence[Index], reduced: Sequence[Index], so_far: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        at = list(index)
        for axis, position in zip(axes, reduced, strict=True):
            at[axis] = position
        return [update(body, at, so_far[0])]

    loops = [1 if i in axes else size for i, size in enumerate(extents)]
    loops += [extents[i] for i in axes]
    (element,) = kernel.reduction(
        label, shape, reduce, [accumulator], step, extents=loops if reduce else ()
    )
    return element


def kept_extents(kernel: KernelBuilder, x: SSAValue, axes: Sequence[int]) -> list[int]:
    """Return the extents of x, with the tails of results on the axes that are not reduced."""
    written = kernel.written_extents(x)
    return [n if i in axes else written[i] for i, n in enumerate(nn.shape_of(x))]


def at_reduced(element: Element, axes: Sequence[int]) -> Element:
    """Return `element` of a reduced tensor, by an index into the tensor before the reduction."""
    return lambda body, index: element(
        body, [ZERO if i in axes else position for i, position in enumerate(index)]
    )


def _define(
    kernel: KernelBuilder, result: SSAValue, axes: Sequence[int], keepdims: bool, element: Element
) -> None:
    """Define a reduction's result by an element whose reduced axes have extent 1."""

    def squeezed(body: Body, index: Sequence[Index]) -> ScalarValue:
        rest = iter(index)
        rank = len(index) + len(axes)
        return element(body, [ZERO if i in axes else next(rest) for i in range(rank)])

    kernel.define(result, element if keepdims else squeezed)


def lower_reduce(kernel: KernelBuilder, op: nn.ReduceOp) -> None:
    """Fold x over the axes."""
    axes, element_type = nn.ints(op.axes), nn.tensor_type(op.x).element_type
    if op.kind.data is ReduceKind.LOG_SUM_EXP:
        element = _log_sum_exp(kernel, op, axes)
    else:
        element = _fold(kernel, op, axes, FOLDS[op.kind.data])

    def typed(body: Body, index: Sequence[Index]) -> ScalarValue:
        return element(body, index).cast(element_type)

    _define(kernel, op.result, axes, op.keepdims is not None, typed)


def _fold(kernel: KernelBuilder, op: nn.ReduceOp, axes: Sequence[int], fold: Reducer) -> Element:
    x_shape, type_ = nn.shape_of(op.x), nn.tensor_type(op.x).element_type
    if fold.real:
        type_ = real_type(type_)
    elif fold.wide and not nn.is_float(type_) and nn.numpy_dtype(type_).itemsize < 8:
        type_ = i64
    count = prod(x_shape[i] for i in axes)
    extents = kept_extents(kernel, op.x, axes)
    for axis in axes:
        if fold.ignores_zeros and kernel.tails.is_zero(op.x, axis):
            extents[axis] = kernel.tails.read(op.x, axis)
    if count == 0 and op.kind.data is ReduceKind.MEAN and not nn.is_float(type_):
        raise CloptError(
            f"{node_name(op)}: the mean of no integers is undefined; reduce a tensor with elements"
        )
    total = fold_axes(
        kernel,
        f"reduce_{op.kind.data.value}",
        x_shape,
        axes,
        Accumulator(type_, fold.start(type_)),
        lambda body, at, so_far: fold.combine(so_far, fold.map(body.read(op.x, at).cast(type_))),
        extents,
    )
    return lambda body, index: fold.finish(total(body, index), count)


def _log_sum_exp(kernel: KernelBuilder, op: nn.ReduceOp, axes: Sequence[int]) -> Element:
    """Return `log(sum exp(x - m)) + m`; m is the greatest x, so that no exponential overflows."""
    x_shape, type_ = nn.shape_of(op.x), real_type(nn.tensor_type(op.x).element_type)
    extents = kept_extents(kernel, op.x, axes)
    largest = fold_axes(
        kernel,
        "reduce_max",
        x_shape,
        axes,
        Accumulator(type_, -inf),
        lambda body, at, so_far: so_far.max(body.read(op.x, at).cast(type_)),
        extents,
    )

    def shift(body: Body, index: Sequence[Index]) -> ScalarValue:
        # With an infinite m, x - m would be inf - inf, which is NaN.
        value = largest(body, index)
        return value.call("abs").compare("eq", inf).select(body.constant(0, type_), value)

    shift_at = at_reduced(shift, axes)
    total = fold_axes(
        kernel,
        "reduce_log_sum_exp",
        x_shape,
        axes,
        Accumulator(type_, 0),
        lambda body, at, so_far: (
            so_far + (body.read(op.x, at).cast(type_) - shift_at(body, at)).call("exp")
        ),
        extents,
    )
    return lambda body, index: total(body, index).call("log") + shift(body, index)


def exceeds(x: ScalarValue, best: ScalarValue, name: str = "gt") -> ScalarValue:
    """Return whether x is greater than `best` (`lt`: less); NaN is beyond all numbers."""
    better = x.compare(name, best)
    if not x.is_float:
        return better
    return better | (x.compare("ne", x) & best.compare("eq", best))


def lower_arg_reduce(kernel: KernelBuilder, op: nn.ArgReduceOp) -> None:
    """Carry the extreme element and its position along the axis."""
    x_shape, element_type = nn.shape_of(op.x), nn.tensor_type(op.x).element_type
    axis = op.axis.value.data
    shape = [1 if i == axis else size for i, size in enumerate(x_shape)]
    if x_shape[axis] == 0 and 0 not in shape:
        raise CloptError(
            f"{node_name(op)}: an empty axis has no extreme element; reduce an axis with elements"
        )
    least, greatest = extremes(element_type)
    largest = op.kind.data is ArgReduceKind.MAX
    name, start = ("gt", least) if largest else ("lt", greatest)

    def update(
        body: Body, index: Sequence[Index], reduced: Sequence[Index], so_far: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        best, where = so_far
        (position,) = reduced
        x = body.read(op.x, [*index[:axis], position, *index[axis + 1 :]])
        # To select the last of equal elements, take any that the best so far does not exceed.
        better = exceeds(x, best, name) if op.select_last is None else ~exceeds(best, x, name)
        return [better.select(x, best), better.select(body.index_scalar(position, i64), where)]

    accumulators = [Accumulator(element_type, start), Accumulator(i64, 0)]
    extents = kept_extents(kernel, op.x, [axis])
    extents[axis] = 1
    _, where = kernel.reduction(
        f"arg_{op.kind.data.value}",
        shape,
        [x_shape[axis]],
        accumulators,
        update,
        extents=(*extents, x_shape[axis]),
    )
    _define(kernel, op.result, [axis], op.keepdims is not None, where)


def lower_cumsum(kernel: KernelBuilder, op: nn.CumsumOp) -> None:
    """Define `y[i] = sum of x[j], j <= i`; with `reverse` j >= i, with `exclusive` j != i."""
    x_shape, axis = nn.shape_of(op.x), op.axis.value.data
    size, element_type = x_shape[axis], nn.tensor_type(op.x).element_type
    nearest = 0 if op.exclusive is None else 1

    def update(
        body: Body, index: Sequence[Index], reduced: Sequence[Index], so_far: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        (step,) = reduced
        # From the far end towards i, the order of additions in a running sum.
        position = step if op.reverse is None else -step + (size - 1)
        distance = index[axis] - position if op.reverse is None else position - index[axis]
        taken = body.compare_index(distance, "sge", nearest)
        at = [*index[:axis], position, *index[axis + 1 :]]
        return [so_far[0] + body.where(taken, lambda: body.read(op.x, at), 0)]

    (element,) = kernel.reduction("cumsum", x_shape, [size], [Accumulator(element_type, 0)], update)
    kernel.define(op.result, element)


def lower_top_k(kernel: KernelBuilder, op: nn.TopKOp) -> None:
    """Count for every element the elements that precede it; the r-th result has rank r.

    All ranks differ: equal elements are ordered by their positions, and NaN is the greatest number,
    as in numpy.sort.
    """
    x_shape, axis = nn.shape_of(op.x), op.axis.value.data
    size, shape = x_shape[axis], nn.shape_of(op.values)

    def replaced(index: Sequence[Index], position: Index) -> list[Index]:
        return [*index[:axis], position, *index[axis + 1 :]]

    def precedes(a: ScalarValue, b: ScalarValue) -> ScalarValue:
        return exceeds(a, b) if op.largest is not None else exceeds(b, a)

    def count(
        body: Body, index: Sequence[Index], reduced: Sequence[Index], so_far: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        (j,) = reduced
        x, other = body.read(op.x, index), body.read(op.x, replaced(index, j))
        earlier = body.compare_index(index[axis] - j, "sgt", 0)
        first = precedes(other, x) | (earlier & ~precedes(x, other))
        return [so_far[0] + first.cast(i32)]

    ranks = kernel.reduction("rank", x_shape, [size], [Accumulator(i32, 0)], count)

    def find(
        body: Body, index: Sequence[Index], reduced: Sequence[Index], so_far: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        (j,) = reduced
        rank = ranks[0](body, replaced(index, j))
        matches = rank.compare("eq", body.index_scalar(index[axis], i32))
        return [matches.select(body.index_scalar(j, i64), so_far[0])]

    (where,) = kernel.reduction("top_k", shape, [size], [Accumulator(i64, 0)], find)
    kernel.define(op.indices, where)
    kernel.define(
        op.values,
        lambda body, index: body.read(
            op.x, replaced(index, body.dynamic_index(where(body, index), size))
        ),
    )
