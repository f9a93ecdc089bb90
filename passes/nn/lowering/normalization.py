"""Lowering of normalisations and softmax: stages for the statistics, then a formula per element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod

from xdsl.ir import SSAValue

from ....dialects import nn
from .body import Body, Index
from .elementwise import read_broadcast
from .kernel import Accumulator, Element, KernelBuilder
from .reduction import at_reduced, fold_axes, kept_extents
from .scalar import ScalarValue

_Read = Callable[[Body, Sequence[Index]], ScalarValue]


def _moments(
    kernel: KernelBuilder,
    read: _Read,
    x_shape: Sequence[int],
    axes: Sequence[int],
    accumulator: Accumulator,
    extents: Sequence[int],
) -> tuple[Element, Element]:
    """Return mean and variance over axes, by an index into x; the loops run to `extents`.

    This takes two passes, since the mean square minus the squared mean cancels if the mean is
    large.
    """
    share = 1 / max(prod(x_shape[i] for i in axes), 1)
    total = at_reduced(
        fold_axes(
            kernel,
            "sum",
            x_shape,
            axes,
            accumulator,
            lambda body, at, so_far: so_far + read(body, at),
            extents,
        ),
        axes,
    )

    def mean(body: Body, index: Sequence[Index]) -> ScalarValue:
        return total(body, index) * share

    def add_square(body: Body, at: list[Index], so_far: ScalarValue) -> ScalarValue:
        centered = read(body, at) - mean(body, at)
        return so_far + centered * centered

    squares = at_reduced(
        fold_axes(kernel, "squares", x_shape, axes, accumulator, add_square, extents), axes
    )
    return mean, lambda body, index: squares(body, index) * share


def _inverse_root(x: ScalarValue, epsilon: float) -> ScalarValue:
    # OpenCL allows rsqrt an error of 2 ulp; most devices divide and take roots more accurately.
    return x.lift(1.0).ratio((x + epsilon).root())


def lower_batch_norm(kernel: KernelBuilder, op: nn.BatchNormOp) -> None:
    """Define `(x - mean[c]) * (scale[c] / sqrt(var[c] + epsilon)) + bias[c]`."""
    epsilon = op.epsilon.value.data

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        scale, bias, mean, var = (
            body.read(value, [index[1]]) for value in (op.scale, op.bias, op.mean, op.var)
        )
        factor = scale.ratio((var + epsilon).root())
        return (body.read(op.x, index) - mean) * factor + bias

    kernel.define(op.result, element)


def lower_layer_norm(kernel: KernelBuilder, op: nn.LayerNormOp) -> None:
    """Define `(x - mean) / sqrt(variance + epsilon) * scale + bias` over the trailing axes."""
    x_shape, epsilon = nn.shape_of(op.x), op.epsilon.value.data
    axes = range(op.axis.value.data, len(x_shape))
    accumulator = Accumulator(nn.tensor_type(op.x).element_type, 0)
    mean, variance = _moments(
        kernel,
        lambda body, at: body.read(op.x, at),
        x_shape,
        axes,
        accumulator,
        kept_extents(kernel, op.x, axes),
    )

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        centered = body.read(op.x, index) - mean(body, index)
        normal = centered * _inverse_root(variance(body, index), epsilon)
        return _scale_and_shift(body, normal, index, op.scale, op.bias)

    kernel.define(op.result, element)


def _scale_and_shift(
    body: Body, x: ScalarValue, index: Sequence[Index], scale: SSAValue, bias: SSAValue | None
) -> ScalarValue:
    scaled = x * read_broadcast(body, scale, index)
    return scaled if bias is None else scaled + read_broadcast(body, bias, index)


def lower_rms_norm(kernel: KernelBuilder, op: nn.RmsNormOp) -> None:
    """Define `x / sqrt(mean of x * x + epsilon) * scale` over the trailing axes."""
    x_shape, epsilon = nn.shape_of(op.x), op.epsilon.value.data
    axes = range(op.axis.value.data, len(x_shape))
    share = 1 / max(prod(x_shape[i] for i in axes), 1)

    def add_square(body: Body, at: list[Index], so_far: ScalarValue) -> ScalarValue:
        x = body.read(op.x, at)
        return so_far + x * x

    accumulator = Accumulator(nn.tensor_type(op.x).element_type, 0)
    extents = kept_extents(kernel, op.x, axes)
    squares = at_reduced(
        fold_axes(kernel, "squares", x_shape, axes, accumulator, add_square, extents), axes
    )

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        factor = _inverse_root(squares(body, index) * share, epsilon)
        return _scale_and_shift(body, body.read(op.x, index) * factor, index, op.scale, None)

    kernel.define(op.result, element)


def lower_group_norm(kernel: KernelBuilder, op: nn.GroupNormOp) -> None:
    """Define a layer norm of each sample's groups of channels, with a scale per channel.

    The statistics are over x reshaped to [N, groups, channels per group, D1..].
    """
    batch, channels, *spatial = nn.shape_of(op.x)
    groups, epsilon = op.num_groups.value.data, op.epsilon.value.data
    members = channels // groups
    grouped = [batch, groups, members, *spatial]

    def read(body: Body, at: Sequence[Index]) -> ScalarValue:
        n, group, member, *position = at
        return body.read(op.x, [n, group * members + member, *position])

    accumulator = Accumulator(nn.tensor_type(op.x).element_type, 0)
    mean, variance = _moments(kernel, read, grouped, range(2, len(grouped)), accumulator, grouped)

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        n, c, *position = index
        at = [n, c // members, c % members, *position]
        factor = _inverse_root(variance(body, at), epsilon)
        normal = (body.read(op.x, index) - mean(body, at)) * factor
        return normal * body.read(op.scale, [c]) + body.read(op.bias, [c])

    kernel.define(op.result, element)


def lower_softmax(kernel: KernelBuilder, op: nn.SoftmaxOp) -> None:
    """Define `exp(x - max) / sum`, or with `log` `x - max - log(sum)`; no exponential overflows.

    The maximum may ignore NaN: the exponential of a NaN makes the sum NaN anyway.
    """
    x_shape, axes = nn.shape_of(op.x), [op.axis.value.data]
    type_ = nn.tensor_type(op.x).element_type
    extents = kept_extents(kernel, op.x, axes)
    largest = at_reduced(
        fold_axes(
            kernel,
            "max",
            x_shape,
            axes,
            Accumulator(type_, -inf),
            lambda body, at, so_far: so_far.max_of_numbers(body.read(op.x, at)),
            extents,
        ),
        axes,
    )

    def shifted(body: Body, index: Sequence[Index]) -> ScalarValue:
        return body.read(op.x, index) - largest(body, index)

    total = at_reduced(
        fold_axes(
            kernel,
            "sum",
            x_shape,
            axes,
            Accumulator(type_, 0),
            lambda body, at, so_far: so_far + shifted(body, at).call("exp"),
            extents,
        ),
        axes,
    )

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        if op.log is not None:
            return shifted(body, index) - total(body, index).call("log")
        return shifted(body, index).call("exp").ratio(total(body, index))

    kernel.define(op.result, element)
