"""Convolutions of one to three dimensions: grouped, depthwise, transposed, in blocks."""

from __future__ import annotations

from ..builder import GraphBuilder
from ..values import Value
from .window import dilations, kernel, padding, strides


def convolve(g: GraphBuilder, x: Value, group: int, outputs: int, spatial: list[int]) -> Value:
    """A Conv of `x` into `outputs` channels."""
    rank = x.rank - 2
    spread = dilations(g, rank)
    weight = g.weight(outputs, x.shape[1] // group, *spatial, scale=0.5)
    bias = g.weight(outputs) if g.chance(0.6) else None
    reach = [(k - 1) * d + 1 for k, d in zip(spatial, spread, strict=True)]
    return g.op(
        "Conv",
        x,
        weight,
        bias,
        kernel_shape=spatial if g.chance(0.5) else None,
        strides=strides(g, rank),
        dilations=spread,
        group=group,
        **padding(g, reach),
    )


def _groups(g: GraphBuilder, channels: int) -> int:
    return g.one_of(*(n for n in range(1, channels + 1) if channels % n == 0))


def conv(g: GraphBuilder) -> None:
    """A full convolution."""
    x = g.pick(rank=(3, 4, 4, 4, 5))
    convolve(g, x, 1, g.shape(4)[1], kernel(g, x))


def conv_3x3(g: GraphBuilder) -> None:
    """The most common one, which may be computed by Winograd's transforms."""
    x = g.pick(rank=(4,))
    weight, bias = g.weight(g.shape(4)[1], x.shape[1], 3, 3, scale=0.5), g.weight(1)
    y = g.op("Conv", x, weight, pads=[1, 1, 1, 1])
    g.op("Add", y, bias)


def conv_1x1(g: GraphBuilder) -> None:
    """A matrix product over channels."""
    x = g.pick(rank=(3, 4))
    convolve(g, x, 1, g.shape(4)[1], [1] * (x.rank - 2))


def grouped_conv(g: GraphBuilder) -> None:
    """A convolution in groups."""
    x = g.pick(rank=(3, 4), where=lambda shape: shape[1] > 1)
    group = _groups(g, x.shape[1])
    convolve(g, x, group, group * g.one_of(1, 2, 3, 4), kernel(g, x))


def depthwise_conv(g: GraphBuilder) -> None:
    """A convolution of each channel by itself, at times into several."""
    x = g.pick(rank=(3, 4, 4, 5))
    convolve(g, x, x.shape[1], x.shape[1] * g.one_of(1, 1, 2), kernel(g, x))


def conv_of_two_inputs(g: GraphBuilder) -> None:
    """A convolution whose weights are computed."""
    x = g.pick(rank=(4,))
    weight = g.new_input((g.one_of(1, 3, 4), x.shape[1], *kernel(g, x)))
    g.op("Conv", x, weight, strides=strides(g, 2), pads=[n // 2 for n in weight.shape[2:]] * 2)


def conv_transpose(g: GraphBuilder) -> None:
    """A transposed convolution, its size given by pads, `output_shape` or `auto_pad`."""
    x = g.pick(rank=(3, 4, 4, 5))
    rank = x.rank - 2
    group = _groups(g, x.shape[1]) if g.chance(0.4) else 1
    spatial, step, spread = kernel(g, x), strides(g, rank), dilations(g, rank)
    weight = g.weight(x.shape[1], g.one_of(1, 2, 3, 4), *spatial, scale=0.5)
    bias = g.weight(weight.shape[1] * group) if g.chance(0.6) else None
    reach = [(k - 1) * d + 1 for k, d in zip(spatial, spread, strict=True)]
    size = padding(g, reach)
    if str(size.get("auto_pad")).startswith("SAME") and any(r < s for r, s in zip(reach, step)):
        size = {}  # clopt refuses sizes that the kernel does not reach.
    if "pads" in size and g.chance(0.4):
        size["output_padding"] = [g.random.randrange(max(s, d)) for s, d in zip(step, spread)]
    if g.chance(0.15):
        full = [s * (n - 1) + r for s, n, r in zip(step, x.shape[2:], reach, strict=True)]
        size = {"output_shape": [max(1, n - g.random.randint(0, 2)) for n in full]}
    g.op("ConvTranspose", x, weight, bias, strides=step, dilations=spread, group=group, **size)


def residual(g: GraphBuilder) -> None:
    """Two convolutions beside the value they are added to."""
    x = g.pick(rank=(4,))
    channels = x.shape[1]
    y = g.op("Conv", x, g.weight(channels, channels, 3, 3, scale=0.3), pads=[1] * 4)
    y = g.op("Relu", y)
    y = g.op("Conv", y, g.weight(channels, channels, 1, 1, scale=0.5), g.weight(channels))
    g.op("Relu", g.op("Add", x, y))


def squeeze_and_excite(g: GraphBuilder) -> None:
    """Channels scaled by what a small network makes of their means."""
    x = g.pick(rank=(4,))
    channels, inner = x.shape[1], g.one_of(1, 2, 4)
    y = g.op("GlobalAveragePool", x)
    y = g.op("Relu", g.op("Conv", y, g.weight(inner, channels, 1, 1), g.weight(inner)))
    y = g.op("Sigmoid", g.op("Conv", y, g.weight(channels, inner, 1, 1)))
    g.op("Mul", x, y)


OPERATORS = {
    "conv": (6, conv),
    "conv_3x3": (3, conv_3x3),
    "conv_1x1": (3, conv_1x1),
    "grouped_conv": (3, grouped_conv),
    "depthwise_conv": (3, depthwise_conv),
    "conv_of_two_inputs": (1, conv_of_two_inputs),
    "conv_transpose": (4, conv_transpose),
    "residual": (2, residual),
    "squeeze_and_excite": (1, squeeze_and_excite),
}
