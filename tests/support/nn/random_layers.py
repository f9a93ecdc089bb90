"""Random functions of several layers, each on one of the values before it."""

from __future__ import annotations

from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from clopt.dialects import nn
from support.nn.random_network import Network, clip, pad, per_channel, relu, residual


def _same_conv(net: Network, x: SSAValue) -> SSAValue:
    channels = nn.shape_of(x)[1]
    groups, k = net.pick(1, channels), net.pick(1, 3)
    w = net.constant(channels, channels // groups, k, k)
    return net.add(nn.ConvOp(x, w, pads=[k // 2] * 4, groups=groups))


def _squeeze_excite(net: Network, x: SSAValue) -> SSAValue:
    mean = net.add(nn.ReduceOp(x, "mean", [2, 3], True))
    return net.add(nn.BinaryOp(x, net.add(nn.UnaryOp(mean, "sigmoid")), "mul"))


def _softmax(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.SoftmaxOp(x, net.pick(1, 2, 3)))


def _layer_norm(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.LayerNormOp(x, net.constant(nn.shape_of(x)[-1])))


def _small_pool(net: Network, x: SSAValue) -> SSAValue:
    window = {"strides": [net.pick(1, 2)] * 2, "pads": [1, 1, 1, 1]}
    return net.add(nn.PoolOp(x, net.pick("max", "average"), [3, 3], **window))


def _swap(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.TransposeOp(x, net.pick([0, 2, 3, 1], [0, 1, 3, 2], [0, 3, 1, 2])))


def _join(net: Network, x: SSAValue) -> SSAValue:
    return net.add(nn.ConcatOp([x, relu(net, x)], net.pick(1, 3)))


def _fold(net: Network, x: SSAValue) -> SSAValue:
    n, c, h, w = nn.shape_of(x)
    return net.add(nn.ReshapeOp(x, net.pick([n, c, w, h], [n, c * h, 1, w], [n, 1, c, h * w])))


def _attend(net: Network, x: SSAValue) -> SSAValue:
    scores = net.add(nn.MatmulOp(x, x, False, True))
    return net.add(nn.MatmulOp(net.add(nn.SoftmaxOp(scores, 3)), x))


def _part(net: Network, x: SSAValue) -> SSAValue:
    sizes = [max(1, n - net.pick(0, 1)) for n in nn.shape_of(x)]
    starts = [n - size for n, size in zip(nn.shape_of(x), sizes, strict=True)]
    return net.add(nn.SliceOp(x, starts, sizes))


LAYERS = (
    *(_same_conv, _same_conv, relu, clip, per_channel, residual, pad, _squeeze_excite, _softmax),
    *(_layer_norm, _small_pool, _swap, _join, _fold, _attend, _part),
)


def graph(net: Network) -> ModuleOp:
    """A few layers of any kind."""
    values = [net.input(net.size(2), net.pick(1, 3, 4), net.size(6), net.size(9))]
    for _ in range(net.size(5)):
        x = net.pick(*values[-2:])
        same = [v for v in values if v.type == x.type and v is not x]
        if same and net.draw(st.booleans()):
            values.append(net.add(nn.BinaryOp(x, net.pick(*same), "add")))
        elif nn.count(nn.shape_of(x)) <= 400:
            values.append(net.pick(*LAYERS)(net, x))
    return net.finish(values[-1], net.pick(*values[-3:]))
