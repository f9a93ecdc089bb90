"""Networks that are hard for packed layouts: odd sizes, odd channels, unusual neighbours.

`CASES` maps a name to a function that writes the model. With `full` the sizes are those of real
networks; without, they are small and keep what makes them hard: remainders, parities, ratios.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import onnx

from support.onnx.net import Net

Case = Callable[[bool], onnx.ModelProto]
_DOUBLED = np.array([1, 1, 2, 2], np.float32)


def _conv(
    shape: tuple[int, ...], small: tuple[int, ...], cout: int, kernel: int | tuple[int, int], **more
) -> Case:
    """One convolution and its activation; `small` replaces the shape in a small test."""

    def case(full: bool) -> onnx.ModelProto:
        net = Net(*(shape if full else small))
        return net.model(net.relu(net.conv(net.x, net.shape[1], cout, kernel, **more)))

    return case


def _nhwc(shape: tuple[int, ...], small: tuple[int, ...], cout: int, kernel: int, **more) -> Case:
    """The same between transpositions, as exporters write NHWC networks."""

    def case(full: bool) -> onnx.ModelProto:
        net = Net(*(shape if full else small))
        y = net.conv(net.nchw(net.x), net.shape[3], cout, kernel, **more)
        return net.model(net.nhwc(net.relu(y)))

    return case


def _depthwise(shape: tuple[int, ...], small: tuple[int, ...], kernel: int = 3, **more) -> Case:
    def case(full: bool) -> onnx.ModelProto:
        net = Net(*(shape if full else small))
        channels = net.shape[1]
        y = net.conv(net.x, channels, channels, kernel, group=channels, **more)
        return net.model(net.relu(y))

    return case


def _transposed(
    shape: tuple[int, ...],
    small: tuple[int, ...],
    cout: int,
    kernel: int,
    pads: int,
    dilation: int = 1,
):
    def case(full: bool) -> onnx.ModelProto:
        net = Net(*(shape if full else small))
        y = net.transposed(net.x, net.shape[1], cout, kernel, pads=pads, dilation=dilation)
        return net.model(net.relu(y))

    return case


CONVOLUTIONS: dict[str, Case] = {
    "rgb_stem_7x7": _conv((1, 3, 224, 224), (1, 3, 30, 30), 64, 7, stride=2, pads=3),
    "rgb_stem_3x3": _conv((1, 3, 299, 299), (1, 3, 29, 29), 32, 3, stride=2),
    "rgb_stem_nhwc": _nhwc((1, 513, 513, 3), (1, 33, 33, 3), 32, 3, stride=2, pads=1),
    "255_outputs": _conv((1, 1024, 13, 13), (1, 96, 13, 13), 255, 1),
    "771_channels": _conv((1, 771, 36, 64), (1, 771, 9, 16), 128, 3, pads=1),
    "3_outputs_nhwc": _nhwc((1, 200, 200, 256), (1, 21, 21, 64), 3, 1),
    "depthwise_63": _depthwise((1, 63, 112, 112), (1, 63, 17, 17), pads=1),
    "depthwise_7": _depthwise((1, 7, 513, 513), (1, 7, 33, 33), stride=2, pads=1),
    "depthwise_3": _depthwise((1, 3, 513, 513), (1, 3, 33, 33), pads=1),
    "depthwise_1x1": _depthwise((1, 3, 200, 200), (1, 3, 20, 20), 1),
    "depthwise_batch_4": _depthwise((4, 576, 35, 35), (4, 36, 35, 35), pads=1),
    "conv_batch_4": _conv((4, 32, 35, 35), (4, 32, 11, 11), 32, 3, pads=1),
    "pad_top_left": _conv((1, 16, 56, 56), (1, 16, 14, 14), 16, 4, pads=(3, 3, 0, 0)),
    "pad_bottom_right": _conv((1, 16, 56, 56), (1, 16, 14, 14), 16, 2, pads=(0, 0, 1, 1)),
    "pad_crossed": _conv((1, 16, 56, 56), (1, 16, 14, 14), 16, 2, pads=(0, 1, 1, 0)),
    "5x5_odd": _conv((1, 48, 35, 35), (1, 48, 15, 15), 64, 5, pads=2),
    "one_channel_nhwc": _nhwc((1, 28, 28, 1), (1, 28, 28, 1), 64, 3, pads=1),
    "groups_of_8": _conv((1, 512, 56, 100), (1, 64, 14, 25), 512, 3, pads=1, group=8),
    "groups_dilated": _conv(
        (1, 1024, 56, 100), (1, 128, 14, 25), 128, 3, stride=2, pads=2, group=8, dilation=2
    ),
    "groups_of_7": _conv(
        (1, 56, 56, 100), (1, 56, 14, 25), 56, (7, 3), stride=(1, 2), group=7, dilation=2
    ),
    "groups_unaligned": _conv((1, 49, 56, 100), (1, 49, 14, 25), 343, 3, pads=1, group=7),
    "transposed_k4": _transposed((1, 256, 100, 100), (1, 32, 10, 10), 64, 4, 1),
    "transposed_k5": _transposed((1, 64, 50, 50), (1, 16, 9, 9), 4, 5, 0),
    "transposed_from_3": _transposed((1, 3, 100, 100), (1, 3, 15, 15), 16, 7, 0),
    "transposed_dilated": _transposed((1, 64, 50, 50), (1, 18, 9, 9), 24, 3, 1, 2),
    "transposed_to_3": _transposed((1, 16, 8, 8), (1, 16, 8, 8), 3, 4, 1),
    "wide_1x1": _conv((1, 320, 7, 7), (1, 320, 7, 7), 1280, 1),
}


def _two_tiny(full: bool) -> onnx.ModelProto:
    net = Net(1, 4, 3, 3)
    y = net.relu(net.conv(net.x, 4, 4, 3, pads=1))
    return net.model(net.conv(y, 4, 4, 3, pads=1))


def _pooled(kind: str, full: bool) -> onnx.ModelProto:
    """A convolution, then a pool: other compilers skip it, as their results are wrong."""
    net = Net(1, 3, *([224, 224] if full else [31, 31]))
    y = net.relu(net.conv(net.x, 3, 32, 3, stride=2, pads=1))
    if kind == "max":
        y = net.op("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    elif kind == "average":
        y = net.op("AveragePool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    elif kind == "average_with_pad":
        y = net.op(
            "AveragePool", y, kernel_shape=[2, 2], strides=[2, 2], pads=[1, 0, 0, 1],
            count_include_pad=1,
        )  # fmt: skip
    else:
        y = net.op("GlobalAveragePool", y)
    return net.model(net.conv(y, 32, 21, 1))


def _branching_pools(full: bool) -> onnx.ModelProto:
    net = Net(1, 12, *([56, 56] if full else [19, 19]))
    y = net.relu(net.conv(net.x, 12, 24, 3, pads=1))
    a = net.op("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    b = net.op("AveragePool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    c = net.conv(y, 24, 10, 3, stride=2, pads=1)
    return net.model(net.op("Concat", a, b, c, axis=1))


def _pool_feeds_convs(full: bool) -> onnx.ModelProto:
    net = Net(1, 32, *([40, 40] if full else [18, 18]))
    p = net.op("MaxPool", net.relu(net.x), kernel_shape=[2, 2], strides=[2, 2])
    parts = [
        net.conv(p, 32, 8, 1),
        net.conv(p, 32, 8, 3, pads=1),
        net.conv(p, 32, 8, 3, pads=(2, 2, 0, 0)),
    ]
    return net.model(net.op("Concat", *parts, axis=1))


def _residual(full: bool) -> onnx.ModelProto:
    net = Net(1, 32, *([40, 40] if full else [12, 12]))
    y = net.relu(net.conv(net.x, 32, 32, 3, pads=1))
    z = net.conv(y, 32, 32, 3, pads=1)
    scale = net.op("ReduceMean", z, keepdims=0)
    return net.model(net.op("Add", net.op("Mul", z, scale), y))


def _two_readers(full: bool) -> onnx.ModelProto:
    """One convolution feeds one whose channels pack and one whose do not; both are joined."""
    net = Net(1, 16, *([40, 40] if full else [13, 13]))
    y = net.relu(net.conv(net.x, 16, 24, 3, pads=1))
    a, b = net.conv(y, 24, 8, 3, pads=1), net.conv(y, 24, 5, 1)
    return net.model(net.op("Concat", a, b, axis=1))


def _unaligned_concat(full: bool) -> onnx.ModelProto:
    net = Net(1, 8, *([40, 40] if full else [9, 9]))
    parts = [net.conv(net.x, 8, channels, 3, pads=1) for channels in (5, 8, 3, 1)]
    return net.model(net.conv(net.op("Concat", *parts, axis=1), 17, 6, 1))


def _mean_broadcast(mean_first: bool, full: bool) -> onnx.ModelProto:
    net = Net(1, 24, *([40, 40] if full else [11, 11]))
    y = net.relu(net.conv(net.x, 24, 24, 3, pads=1))
    m = net.op("ReduceMean", y, axes=[2, 3], keepdims=1)
    z = net.op("Add", m, y) if mean_first else net.op("Add", y, m)
    return net.model(net.conv(z, 24, 12, 1))


def _concat_split(full: bool) -> onnx.ModelProto:
    net = Net(1, 8, *([40, 40] if full else [10, 10]))
    y = net.relu(net.conv(net.x, 8, 12, 3, pads=1))
    joined = net.op("Concat", y, net.x, axis=1)
    a, b = net.op("Split", joined, net.ints(10, 10), outputs=2, axis=1)
    a = net.op("Transpose", a, perm=[0, 1, 3, 2])
    return net.model(net.op("Concat", a, b, axis=1))


def _slice_channels(full: bool) -> onnx.ModelProto:
    net = Net(1, 16, *([40, 40] if full else [8, 8]))
    y = net.relu(net.conv(net.x, 16, 22, 1))
    picked = net.op("Slice", y, net.ints(1), net.ints(22), net.ints(1), net.ints(2))
    return net.model(net.conv(picked, 11, 8, 3, pads=1))


def _squeezed(full: bool) -> onnx.ModelProto:
    net = Net(1, 16, *([40, 40] if full else [6, 6]))
    y = net.relu(net.conv(net.x, 16, 12, 1))
    flat = net.op("Squeeze", y, net.ints(0))
    wide = net.op("Unsqueeze", y, net.ints(0, 3))
    return net.model(net.op("Neg", flat), net.op("Abs", wide))


def _after_conv(kind: str, full: bool) -> onnx.ModelProto:
    """Reductions, norms, softmax and resizes of a value that lies packed, 21 channels of it."""
    net = Net(1, 8, *([33, 33] if full else [13, 11]))
    y = net.conv(net.x, 8, 21, 3, pads=1) if full else net.conv(net.x, 8, 21, 1)
    out = {
        "softmax_c": lambda: net.op("Softmax", y, axis=1),
        "softmax_w": lambda: net.op("Softmax", y, axis=3),
        "log_softmax": lambda: net.op("LogSoftmax", y, axis=1),
        "mean_c": lambda: net.op("ReduceMean", y, axes=[1], keepdims=1),
        "max_c": lambda: net.op("ReduceMax", y, axes=[1], keepdims=1),
        "min_c": lambda: net.op("ReduceMin", net.op("Exp", y), axes=[1], keepdims=1),
        "product_c": lambda: net.op("ReduceProd", y, axes=[1], keepdims=1),
        "argmax_c": lambda: net.op("ArgMax", y, axis=1),
        "sum_ch": lambda: net.op("ReduceSum", y, net.ints(1, 2), keepdims=0),
        "mean_hw": lambda: net.op("ReduceMean", y, axes=[2, 3], keepdims=0),
        "max_hw": lambda: net.op("GlobalMaxPool", y),
        "instance_norm": lambda: net.op("InstanceNormalization", y, net.normal(21), net.normal(21)),
        "layer_norm_hw": lambda: (
            net.op("LayerNormalization", y, net.normal(13, 11), axis=2)
            if not full
            else net.op("LayerNormalization", y, net.normal(33, 33), axis=2)
        ),
        "resize_nearest": lambda: net.op("Resize", y, "", net.weight(_DOUBLED), mode="nearest"),
        "resize_linear": lambda: net.op("Resize", y, "", net.weight(_DOUBLED), mode="linear"),
        "depth_to_space": lambda: net.op("DepthToSpace", net.conv(y, 21, 12, 1), blocksize=2),
        "pad_channels": lambda: net.conv(
            net.op("Pad", y, net.ints(0, 1, 0, 0, 0, 2, 0, 0)), 24, 5, 1
        ),
        "pad_border": lambda: net.conv(
            net.op("Pad", y, net.ints(0, 0, 1, 2, 0, 0, 0, 3), mode="reflect"), 21, 5, 3
        ),
        "prelu": lambda: net.op("PRelu", y, net.normal(21, 1, 1)),
        "reciprocal": lambda: net.conv(net.op("Reciprocal", y), 21, 5, 1),
        "log": lambda: net.conv(net.op("Log", net.op("Abs", y)), 21, 5, 1),
        "channel_scale": lambda: net.op("Mul", y, net.normal(1, 21, 1, 1)),
        "row_scale": lambda: net.op("Mul", y, net.normal(1, 1, 1, net.shape[3])),
        "transpose": lambda: net.op("Transpose", y, perm=[0, 3, 2, 1]),
        "flatten_dense": lambda: net.op(
            "Gemm", net.op("Flatten", y), net.normal(21 * net.shape[2] * net.shape[3], 10), transA=0
        ),
        "where": lambda: net.op("Where", net.op("Greater", y, net.normal(1)), y, net.normal(1)),
        "cast_int": lambda: net.op("Cast", net.op("Mul", y, net.normal(1, scale=40.0)), to=6),
    }[kind]()
    return net.model(out)


_AFTER = (
    "softmax_c softmax_w log_softmax mean_c max_c min_c product_c argmax_c sum_ch mean_hw max_hw "
    "instance_norm layer_norm_hw resize_nearest resize_linear depth_to_space pad_channels "
    "pad_border prelu reciprocal log channel_scale row_scale transpose flatten_dense where cast_int"
).split()


def _reduced(kind: str, shape: tuple[int, ...], small: tuple[int, ...]) -> Case:
    """A reduction over the three colours of an image."""

    def case(full: bool) -> onnx.ModelProto:
        net = Net(*(shape if full else small))
        x = net.op("Abs", net.x)
        if kind == "ArgMax":
            return net.model(net.op(kind, x, axis=1))
        return net.model(net.op(kind, x, axes=[1], keepdims=1))

    return case


def _relayout(to_packed: bool, shape: tuple[int, ...], small: tuple[int, ...]) -> Case:
    """The packing itself as a network writes it: reshape and transpose."""

    def case(full: bool) -> onnx.ModelProto:
        net = Net(*(shape if full else small))
        if to_packed:
            n, c, h, w = net.shape
            split = net.op("Reshape", net.x, net.ints(n, c // 4, 4, h, w))
            return net.model(net.op("Transpose", split, perm=[0, 1, 3, 4, 2]))
        n, c, h, w, lanes = net.shape
        spread = net.op("Transpose", net.x, perm=[0, 1, 4, 2, 3])
        return net.model(net.op("Reshape", spread, net.ints(n, c * lanes, h, w)))

    return case


def _attention(full: bool) -> onnx.ModelProto:
    """One head group of self-attention, written with plain products."""
    tokens, width, heads = (197, 192, 3) if full else (17, 24, 2)
    net = Net(1, tokens, width)
    q, k, v = (
        net.op(
            "Transpose",
            net.op(
                "Reshape",
                net.op("MatMul", net.x, net.normal(width, width, scale=width**-0.5)),
                net.ints(1, tokens, heads, width // heads),
            ),
            perm=[0, 2, 1, 3],
        )
        for _ in range(3)
    )
    scores = net.op("MatMul", q, net.op("Transpose", k, perm=[0, 1, 3, 2]))
    mixed = net.op("MatMul", net.op("Softmax", scores, axis=-1), v)
    joined = net.op(
        "Reshape", net.op("Transpose", mixed, perm=[0, 2, 1, 3]), net.ints(1, tokens, width)
    )
    out = net.op("MatMul", joined, net.normal(width, width, scale=width**-0.5))
    norm = net.op("LayerNormalization", net.op("Add", out, net.x), net.normal(width), axis=-1)
    return net.model(norm)


def _global_pool(channels: int, size: int, small: int, full: bool) -> onnx.ModelProto:
    net = Net(1, channels if full else channels // 8, *([size] * 2 if full else [small] * 2))
    return net.model(net.op("GlobalAveragePool", net.relu(net.x)))


def _wide(full: bool) -> onnx.ModelProto:
    """A row longer than an image is wide."""
    net = Net(1, 4, 1, 40000 if full else 20000)
    return net.model(net.conv(net.relu(net.conv(net.x, 4, 8, (1, 3), pads=(0, 1, 0, 1))), 8, 4, 1))


GRAPHS: dict[str, Case] = {
    "two_tiny_convs": _two_tiny,
    "conv_max_pool": partial(_pooled, "max"),
    "conv_average_pool": partial(_pooled, "average"),
    "conv_average_pool_padded": partial(_pooled, "average_with_pad"),
    "conv_global_pool": partial(_pooled, "global"),
    "branching_pools": _branching_pools,
    "pool_feeds_convs": _pool_feeds_convs,
    "residual_scaled": _residual,
    "two_readers": _two_readers,
    "unaligned_concat": _unaligned_concat,
    "mean_added": partial(_mean_broadcast, True),
    "added_to_mean": partial(_mean_broadcast, False),
    "concat_split_transpose": _concat_split,
    "slice_channels": _slice_channels,
    "squeeze_and_rank_6": _squeezed,
    "attention": _attention,
    "wide_row": _wide,
    "global_pool_wide": partial(_global_pool, 32, 160, 40),
    "global_pool_deep": partial(_global_pool, 2048, 20, 20),
    "mean_of_colours": _reduced("ReduceMean", (1, 3, 720, 1280), (1, 3, 24, 40)),
    "max_of_colours_odd": _reduced("ReduceMax", (1, 3, 729, 729), (1, 3, 27, 27)),
    "argmax_of_colours": _reduced("ArgMax", (1, 3, 720, 1280), (1, 3, 24, 40)),
    "pack": _relayout(True, (1, 32, 720, 1280), (1, 32, 18, 32)),
    "unpack_pixels": _relayout(False, (1, 36, 1, 1, 4), (1, 36, 1, 1, 4)),
    "unpack": _relayout(False, (1, 80, 80, 36, 4), (1, 8, 20, 9, 4)),
    **{name: partial(_after_conv, name) for name in _AFTER},
}

CASES: dict[str, Case] = CONVOLUTIONS | GRAPHS
