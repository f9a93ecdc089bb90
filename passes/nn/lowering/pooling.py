"""Lowering of pooling: reductions over windows that may overlap the input's padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import i32, i64

from ....dialects import nn
from ....dialects.nn import PoolKind
from .body import Body, Index
from .convolution import SPATIAL_AXES
from .kernel import Accumulator, Element, KernelBuilder
from .reduction import exceeds
from .scalar import ScalarValue, extremes


@dataclass(frozen=True)
class PoolWindow:
    """The elements that one output position of a pooling reads."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]
    sizes: tuple[int, ...]
    """The extents of the input's spatial dimensions."""

    @property
    def axes(self) -> list[str]:
        """Return the names of the loops: batch, channel, positions, taps."""
        names = SPATIAL_AXES[len(self.kernel)]
        return ["n", "c", *names, *(f"k{name}" for name in names)]

    def starts(self, position: Sequence[Index]) -> list[Index]:
        """Return the first tap in every spatial dimension, negative if it is padding."""
        return [p * s - pad for p, s, pad in zip(position, self.strides, self.pads, strict=False)]

    def taps(self, position: Sequence[Index], offset: Sequence[Index]) -> list[Index]:
        """Return the input position of one tap."""
        starts = self.starts(position)
        return [start + k * d for start, k, d in zip(starts, offset, self.dilations, strict=True)]

    def count(self, body: Body, position: Sequence[Index], padding: bool) -> int | ScalarValue:
        """Return the number of taps inside the input, or with `padding` inside the padded input."""
        rank = len(self.kernel)
        fixed, counted = 1, None
        for i, start in enumerate(self.starts(position)):
            low = -self.pads[i] if padding else 0
            high = self.sizes[i] + (self.pads[i + rank] if padding else 0)
            taps = self._count_one(body, i, start, low, high)
            if isinstance(taps, int):
                fixed *= taps
            else:
                counted = taps if counted is None else counted * taps
        if counted is None:
            return fixed
        return counted if fixed == 1 else counted * fixed

    def _count_one(
        self, body: Body, i: int, start: Index, low: int, high: int
    ) -> int | ScalarValue:
        """Return the number of k < kernel[i] with low <= start + k * dilation < high."""
        dilation, size = self.dilations[i], self.kernel[i]
        first = body.simplify((-start + low).ceil_div(dilation))
        end = body.simplify((-start + high).ceil_div(dilation))
        starts_inside = _at_most(body.bounds(first)[1], 0)
        ends_inside = _at_most(size, body.bounds(end)[0])
        if starts_inside and ends_inside:
            return size
        last = body.constant(size, i32)
        if not ends_inside:
            last = body.index_scalar(end, i32).min(size)
        return last if starts_inside else last - body.index_scalar(first, i32).max(0)


def _at_most(value: int | None, limit: int | None) -> bool:
    return value is not None and limit is not None and value <= limit


def window_of(op: nn.WindowOp) -> PoolWindow:
    """Return the window of a pooling operation."""
    return PoolWindow(
        nn.ints(op.kernel),
        nn.ints(op.strides),
        nn.ints(op.dilations),
        nn.ints(op.pads),
        nn.shape_of(op.x)[2:],
    )


def lower_pool(kernel: KernelBuilder, op: nn.PoolOp) -> None:
    """Fold `x[n, c, p * stride + k * dilation - pad]` over the window's k to `y[n, c, p]`."""
    kernel.define(op.result, _POOL[op.kind.data](kernel, op, window_of(op)))


def _fold(
    kernel: KernelBuilder,
    op: nn.PoolOp,
    window: PoolWindow,
    start: float,
    combine: Callable[[ScalarValue, ScalarValue], ScalarValue],
) -> Element:
    """Combine the taps inside the input, starting from the neutral `start`."""
    x_shape = nn.shape_of(op.x)
    element_type = nn.tensor_type(op.x).element_type

    def update(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], so_far: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        n, c, *position = index
        x = body.read_or(op.x, [n, c, *window.taps(position, reduce)], x_shape, start)
        return [combine(so_far[0], x)]

    (element,) = kernel.reduction(
        f"{op.kind.data.value}_pool",
        nn.shape_of(op.result),
        window.kernel,
        [Accumulator(element_type, start)],
        update,
        window.axes,
        (*kernel.written_extents(op.result), *window.kernel),
    )
    return element


def _max(kernel: KernelBuilder, op: nn.PoolOp, window: PoolWindow) -> Element:
    least, _ = extremes(nn.tensor_type(op.x).element_type)
    return _fold(kernel, op, window, least, lambda so_far, x: so_far.max(x))


def _average(kernel: KernelBuilder, op: nn.PoolOp, window: PoolWindow) -> Element:
    total = _fold(kernel, op, window, 0, lambda so_far, x: so_far + x)
    padding = op.count_include_pad is not None

    def mean(body: Body, index: Sequence[Index]) -> ScalarValue:
        value = total(body, index)
        count = window.count(body, index[2:], padding)
        return value / (count if isinstance(count, int) else count.cast(value.element_type))

    return mean


def _lp(kernel: KernelBuilder, op: nn.PoolOp, window: PoolWindow) -> Element:
    p = op.p.value.data
    total = _fold(kernel, op, window, 0, lambda so_far, x: so_far + _power(x, p))
    return lambda body, index: _root(total(body, index), p)


def _power(x: ScalarValue, p: int) -> ScalarValue:
    match p:
        case 1:
            return x.call("abs")
        case 2:
            return x * x
        case _:
            return x.call("abs").binary("pow", p)


def _root(x: ScalarValue, p: int) -> ScalarValue:
    match p:
        case 1:
            return x
        case 2:
            return x.call("sqrt")
        case _:
            return x.binary("pow", 1 / p)


_POOL: dict[PoolKind, Callable[[KernelBuilder, nn.PoolOp, PoolWindow], Element]] = {
    PoolKind.MAX: _max,
    PoolKind.AVERAGE: _average,
    PoolKind.LP: _lp,
}


def lower_max_pool_indices(kernel: KernelBuilder, op: nn.MaxPoolIndicesOp) -> None:
    """Define the flat position of the first greatest tap; -1 if no tap is inside the input."""
    window, x_shape = window_of(op), nn.shape_of(op.x)
    element_type = nn.tensor_type(op.x).element_type
    least, _ = extremes(element_type)
    spatial = list(window.sizes)
    if op.storage_order.value.data:
        strides = [prod(spatial[:i]) for i in range(len(spatial))]
    else:
        strides = [prod(spatial[i + 1 :]) for i in range(len(spatial))]

    def update(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], so_far: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        n, c, *position = index
        best, where = so_far
        taps = window.taps(position, reduce)
        # A tap outside of the input reads the least number and is never selected; the first tap
        # inside is selected whatever its value is.
        inside = body.inside([n, c, *taps], x_shape)
        x = body.read_or(op.x, [n, c, *taps], x_shape, least)
        better = exceeds(x, best) | where.compare("lt", 0)
        if inside is not None:
            better = better & inside
        flat = (n * x_shape[1] + c) * prod(spatial)
        for tap, stride in zip(taps, strides, strict=True):
            flat = flat + tap * stride
        return [better.select(x, best), better.select(body.index_scalar(flat, i64), where)]

    _, where = kernel.reduction(
        "max_pool_indices",
        nn.shape_of(op.result),
        window.kernel,
        [Accumulator(element_type, least), Accumulator(i64, -1)],
        update,
        window.axes,
        (*kernel.written_extents(op.result), *window.kernel),
    )
    kernel.define(op.result, where)
