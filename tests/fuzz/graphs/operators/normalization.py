"""Normalisations and softmax."""

from __future__ import annotations

from ..builder import GraphBuilder
from ..values import Value


def batch_norm(g: GraphBuilder) -> None:
    """BatchNormalization of an inference, at times behind a convolution."""
    x = g.pick(rank=(2, 3, 4, 4, 5))
    channels = x.shape[1]
    if x.rank == 4 and g.chance(0.5):
        channels = g.one_of(1, 3, 4, 8)
        x = g.op("Conv", x, g.weight(channels, x.shape[1], 1, 1))
    scale, bias, mean = (g.weight(channels) for _ in range(3))
    variance = g.weight(channels, low=0.3)
    g.op("BatchNormalization", x, scale, bias, mean, variance, epsilon=g.one_of(1e-5, 1e-2))


def instance_norm(g: GraphBuilder) -> None:
    """InstanceNormalization; an epsilon keeps constant channels tame."""
    x = g.pick(rank=(3, 4, 5))
    channels = x.shape[1]
    g.op("InstanceNormalization", x, g.weight(channels), g.weight(channels), epsilon=0.1)


def layer_norm(g: GraphBuilder) -> None:
    """LayerNormalization over the last axes."""
    x = g.pick(rank=range(1, 5))
    axis = g.random.randrange(x.rank)
    scale = g.weight(*x.shape[axis:])
    bias = g.weight(*x.shape[axis:]) if g.chance(0.7) else None
    outputs = g.one_of(1, 1, 1, 3)
    axis = axis - x.rank if g.chance(0.5) else axis
    g.op("LayerNormalization", x, scale, bias, outputs=outputs, axis=axis, epsilon=0.1)


def group_norm(g: GraphBuilder) -> None:
    """GroupNormalization; its scale is per channel since opset 21."""
    x = g.pick(rank=(3, 4))
    channels = x.shape[1]
    groups = g.one_of(*(n for n in range(1, channels + 1) if channels % n == 0))
    length = channels if g.opset >= 21 else groups
    scale, bias = g.weight(length), g.weight(length)
    g.op("GroupNormalization", x, scale, bias, num_groups=groups, epsilon=0.1)


def lrn(g: GraphBuilder) -> None:
    """LRN over neighbouring channels."""
    x = g.pick(rank=(4,))  # all that onnxruntime takes
    size = g.one_of(1, 3, 5)
    g.op("LRN", x, size=size, alpha=g.one_of(1e-4, 0.1), beta=g.one_of(0.75, 0.5), bias=1.0)


def softmax(g: GraphBuilder) -> None:
    """Softmax, LogSoftmax or Hardmax."""
    x = g.pick()
    kind = g.one_of("Softmax", "Softmax", "Softmax", "LogSoftmax", "Hardmax")
    g.op(kind, x, axis=g.axis(x.rank) if g.chance(0.8) else None)


def lp_norm(g: GraphBuilder) -> None:
    """LpNormalization."""
    x = g.pick()
    g.op("LpNormalization", x, axis=g.axis(x.rank), p=g.one_of(1, 2))


def mean_variance_norm(g: GraphBuilder) -> None:
    """MeanVarianceNormalization, an operator that ONNX defines by others."""
    g.op("MeanVarianceNormalization", g.pick(rank=(4,)), axes=g.one_of([0, 2, 3], [2, 3], [1]))


def written_layer_norm(g: GraphBuilder) -> None:
    """Layer norm as exporters wrote it before it was an operator."""
    x = g.pick(rank=(2, 3))
    mean = _mean(g, x)
    centred = g.op("Sub", x, mean)
    variance = _mean(g, g.op("Mul", centred, centred))
    deviation = g.op("Sqrt", g.op("Add", variance, g.weight(low=0.1)))
    y = g.op("Div", centred, deviation)
    g.op("Add", g.op("Mul", y, g.weight(x.shape[-1])), g.weight(x.shape[-1]))


def _mean(g: GraphBuilder, x: Value) -> Value:
    if g.opset >= 18:
        return g.op("ReduceMean", x, g.ints(-1))
    return g.op("ReduceMean", x, axes=[-1])


OPERATORS = {
    "batch_norm": (4, batch_norm),
    "instance_norm": (2, instance_norm),
    "layer_norm": (3, layer_norm),
    "group_norm": (2, group_norm),
    "lrn": (2, lrn),
    "softmax": (3, softmax),
    "lp_norm": (1, lp_norm),
    "mean_variance_norm": (1, mean_variance_norm),
    "written_layer_norm": (1, written_layer_norm),
}
