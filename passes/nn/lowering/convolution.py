"""Lowering of convolution: a reduction over input channels and the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ....dialects import nn
from .body import Body, Index
from .kernel import Accumulator, Element, KernelBuilder, sum_type
from .scalar import ScalarValue

SPATIAL_AXES = {1: ("w",), 2: ("h", "w"), 3: ("d", "h", "w")}


def add_bias(element: Element, op: nn.ConvolutionOp | nn.WinogradConvOp) -> Element:
    """Return `element` plus the bias of its channel, if the operation has one."""
    bias = op.b
    if bias is None:
        return element
    return lambda body, index: element(body, index) + body.read(bias, [index[1]])


def lower_conv(kernel: KernelBuilder, op: nn.ConvOp) -> None:
    """Define `y[n, o, p] = sum of x[n, g(o) + c, p stride + k dilation - pad] w[o, c, k]`.

    The sum is over channels c and window positions k; g(o) is the first channel of o's group.
    """
    x_shape, w_shape, shape = nn.shape_of(op.x), nn.shape_of(op.w), nn.shape_of(op.result)
    groups = op.groups.value.data
    strides, dilations = nn.ints(op.strides), nn.ints(op.dilations)
    rank = len(strides)
    pads = nn.ints(op.pads)[:rank]
    channels_per_group = w_shape[1]
    outputs_per_group = w_shape[0] // groups
    element_type = nn.tensor_type(op.result).element_type

    def update(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], sums: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        n, o, *position = index
        c, *window = reduce
        group = _group(o, outputs_per_group, groups)
        taps = [
            p * s + k * d - pad
            for p, s, k, d, pad in zip(position, strides, window, dilations, pads, strict=True)
        ]
        x = body.read_or(op.x, [n, group * channels_per_group + c, *taps], x_shape, 0)
        w = body.read(op.w, [o, c, *window])
        return [sums[0] + x.cast(element_type) * w.cast(element_type)]

    names = SPATIAL_AXES[rank]
    axes = ["n", "o", *names, "c", *(f"k{name}" for name in names)]
    (element,) = kernel.reduction(
        "conv",
        shape,
        w_shape[1:],
        [Accumulator(element_type, 0, sum_type(op))],
        update,
        axes,
        (*_channel_extents(kernel, op, 0, 1), *w_shape[2:]),
    )
    kernel.define(op.result, add_bias(element, op))


def _group(o: Index, outputs: int, groups: int) -> Index:
    """Return the group of an output channel; a single group includes channels in the tail."""
    return o // outputs if groups > 1 else AffineExpr.constant(0)


def contracted(kernel: KernelBuilder, a: tuple[SSAValue, int], b: tuple[SSAValue, int]) -> int:
    """Return the extent of a contraction over two axes, with their tails if both hold zeros."""
    if kernel.tails.is_zero(*a) and kernel.tails.is_zero(*b):
        return min(kernel.tails.read(*a), kernel.tails.read(*b))
    return nn.shape_of(a[0])[a[1]]


def _channel_extents(
    kernel: KernelBuilder, op: nn.ConvolutionOp, outputs: int, inputs: int
) -> list[int]:
    """Return the loop extents of the result and of the input channels.

    `outputs` and `inputs` are their axes in the weights. The loops may run over the tails of packed
    weights, which hold zeros. Groups have no tails: the next group's first channel follows a
    group's last.
    """
    extents = list(kernel.written_extents(op.result))
    groups = op.groups.value.data
    if groups == 1 or outputs == 0:
        extents[1] = max(extents[1], kernel.tails.read(op.w, outputs))
    if groups > 1:
        return [*extents, nn.shape_of(op.x)[1] // groups]
    return [*extents, contracted(kernel, (op.x, 1), (op.w, inputs))]


@dataclass(frozen=True)
class TransposedAxis:
    """The taps of a transposed convolution that contribute to an output, along one dimension.

    Input i adds to output `i * stride + k * dilation - pad`. An output p, with `q = p + pad`, thus
    sums over the k for which `q - k * dilation` is a multiple of the stride. If stride and dilation
    have no common factor, these are every stride-th k from `q / dilation` modulo the stride on, and
    the loop visits only them.
    """

    size: int
    kernel: int
    stride: int
    dilation: int
    pad: int

    @property
    def is_exact(self) -> bool:
        """Return whether the loop visits only taps that hit an input position."""
        return gcd(self.stride, self.dilation) == 1

    @property
    def steps(self) -> int:
        """Return the extent of the loop over taps."""
        return -(-self.kernel // self.stride) if self.is_exact else self.kernel

    def tap(self, position: Index, step: Index) -> tuple[Index, Index]:
        """Return the tap of a step of the loop, and the input position that it hits."""
        q = position + self.pad
        if not self.is_exact:
            return step, (q - step * self.dilation) // self.stride
        inverse = pow(self.dilation, -1, self.stride)
        first = (q * inverse) % self.stride
        if self.dilation == 1:
            return first + step * self.stride, q // self.stride - step
        meets = (q - first * self.dilation) // self.stride
        return first + step * self.stride, meets - step * self.dilation

    def misses(self, position: Index, step: Index) -> Index | None:
        """Return a number that is zero if the tap hits an input position; None if all taps hit."""
        if self.is_exact:
            return None
        # Adding a multiple of the stride keeps the dividend non-negative.
        lift = self.stride * self.dilation * self.kernel
        return (position + self.pad - step * self.dilation + lift) % self.stride


def _transposed_axes(op: nn.ConvTransposeOp) -> list[TransposedAxis]:
    columns = (
        nn.shape_of(op.x)[2:],
        nn.shape_of(op.w)[2:],
        nn.ints(op.strides),
        nn.ints(op.dilations),
        nn.ints(op.pads),
    )
    return [TransposedAxis(*row) for row in zip(*columns, strict=False)]


def lower_conv_transpose(kernel: KernelBuilder, op: nn.ConvTransposeOp) -> None:
    """Define `y[n, o, p] = sum over c, k of x[n, g(o) + c, i] w[g(o) + c, o, k]`.

    i follows from p and k as in `TransposedAxis`. Every output element gathers its inputs: nothing
    is scattered, no zeros are inserted.
    """
    axes = _transposed_axes(op)
    groups = op.groups.value.data
    channels = nn.shape_of(op.x)[1] // groups
    outputs = nn.shape_of(op.w)[1]
    element_type = nn.tensor_type(op.result).element_type

    def update(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], sums: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        n, o, *position = index
        c, *steps = reduce
        channel = _group(o, outputs, groups) * channels + c
        met = [axis.tap(p, s) for axis, p, s in zip(axes, position, steps, strict=True)]
        taps, inputs = [k for k, _ in met], [i for _, i in met]
        condition = body.inside(
            [*taps, *inputs], [axis.kernel for axis in axes] + [axis.size for axis in axes]
        )
        for axis, p, s in zip(axes, position, steps, strict=True):
            rest = axis.misses(p, s)
            if rest is not None:
                divides = body.compare_index(rest, "eq", 0)
                condition = divides if condition is None else condition & divides

        def product() -> ScalarValue:
            x = body.read(op.x, [n, channel, *inputs])
            w = body.read(op.w, [channel, o % outputs if groups > 1 else o, *taps])
            return x.cast(element_type) * w.cast(element_type)

        return [sums[0] + (product() if condition is None else body.where(condition, product, 0))]

    names = SPATIAL_AXES[len(axes)]
    steps = [axis.steps for axis in axes]
    (element,) = kernel.reduction(
        "conv_transpose",
        nn.shape_of(op.result),
        [channels, *steps],
        [Accumulator(element_type, 0, sum_type(op))],
        update,
        ["n", "o", *names, "c", *(f"k{name}" for name in names)],
        (*_channel_extents(kernel, op, 1, 0), *steps),
    )
    kernel.define(op.result, add_bias(element, op))
