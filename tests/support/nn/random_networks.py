"""Random functions of nn operations, one family for each kind of kernel, and random targets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from clopt.dialects import cl, nn
from support.drawing import shuffle
from support.nn.random_layers import graph
from support.nn.random_network import (
    AFTER,
    BEFORE,
    MOVES,
    Network,
    clip,
    per_channel,
    relu,
    reshape,
    residual,
    transpose,
)

TARGETS = st.one_of(
    st.fixed_dictionaries(
        {
            "vector_width": st.sampled_from([2, 4, 8]),
            "vector_registers": st.sampled_from([6, 8, 16]),
            "compute_units": st.sampled_from([1, 4]),
            "l1_cache_bytes": st.sampled_from([64, 32768]),
            "l2_cache_bytes": st.sampled_from([64, 524288]),
        }
    ),
    st.fixed_dictionaries(
        {
            "device_type": st.just("gpu"),
            "vector_width": st.just(4),
            "register_tile": st.sampled_from([1, 2, 4]),
            "compute_units": st.sampled_from([1, 16]),
            "max_work_group_size": st.just(256),
        }
    ),
).map(lambda facts: cl.Target().with_facts(facts))

IMAGES = st.fixed_dictionaries(
    {
        "device_type": st.just("gpu"),
        "vector_width": st.just(4),
        "texture": st.just("prefer"),
        "images": st.just(True),
        "max_image_width": st.sampled_from([32, 1024]),
        "max_image_height": st.sampled_from([8, 1024]),
        "max_image_layers": st.just(16),
        "max_image_buffer_texels": st.sampled_from([64, 4096]),
        "max_read_images": st.just(16),
        "max_write_images": st.just(4),
        "image1d_buffer": st.booleans(),
        "image_from_buffer": st.booleans(),
        "image_pitch_alignment_bytes": st.just(64),
        "image_base_alignment_bytes": st.sampled_from([16, 128]),
    }
).map(cl.Target().with_facts)


def convolution(net: Network) -> ModuleOp:
    rank = net.pick(1, 2, 2)
    groups, per_group, outputs = net.pick(1, 1, 2, 5), net.pick(1, 2), net.pick(1, 3, 4, 6)
    kernel = [net.size(3) for _ in range(rank)]
    dilations = [net.pick(1, 1, 2) for _ in range(rank)]
    sizes = [net.size(11) + (k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
    x = net.maybe(net.input(net.size(2), groups * per_group, *sizes), relu, per_channel)
    conv = nn.ConvOp(
        x,
        net.operand(groups * outputs, per_group, *kernel),
        net.constant(groups * outputs) if net.draw(st.booleans()) else None,
        strides=[net.pick(1, 1, 2) for _ in range(rank)],
        dilations=dilations,
        pads=[net.pick(0, 1, 2) for _ in range(2 * rank)],
        groups=groups,
    )
    return net.finish(net.maybe(net.add(conv), *MOVES))


def pixels_and_product(net: Network) -> ModuleOp:
    """A map of channels that is computed pixel by pixel, and a 1x1 convolution of it."""
    channels, kernel = net.pick(4, 8, 11), [net.size(3), net.size(3)]
    strides, dilations = ([net.size(2), net.size(2)] for _ in range(2))
    pads = [net.draw(st.integers(0, k - 1)) for k in (*kernel, *kernel)]
    sizes = [net.size(8) + 1 + (k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
    x = net.input(net.size(2), channels, *sizes)
    match net.pick("depthwise", "depthwise", "pool", "function"):
        case "depthwise":
            window = {"strides": strides, "dilations": dilations, "pads": pads}
            weights, bias = net.constant(channels, 1, *kernel), net.constant(channels)
            x = net.add(nn.ConvOp(x, weights, bias, groups=channels, **window))
        case "pool":
            kind = net.pick("max", "average")
            x = net.add(nn.PoolOp(x, kind, kernel, strides=strides, pads=pads))
        case _:
            x = residual(net, relu(net, x))
    x = net.maybe(x, relu, clip)
    outputs = net.pick(4, 7, 12)
    bias = net.constant(outputs) if net.draw(st.booleans()) else None
    y = net.add(nn.ConvOp(x, net.constant(outputs, channels, 1, 1), bias))
    return net.finish(net.maybe(y, relu, clip, residual))


def transposed_convolution(net: Network) -> ModuleOp:
    groups, per_group = net.pick(1, 1, 3), net.pick(1, 4)
    x = net.input(net.size(2), groups * 2, net.size(6), net.size(6))
    strides = [net.pick(1, 2), net.pick(1, 3)]
    conv = nn.ConvTransposeOp(
        x,
        net.operand(groups * 2, per_group, 3, 2),
        strides=strides,
        pads=[0, 1, 1, 0],
        groups=groups,
    )
    return net.finish(net.maybe(net.add(conv), *AFTER))


def matmul(net: Network) -> ModuleOp:
    m, n, k = net.size(14), net.size(19), net.size(6)
    batch = [net.size(2) for _ in range(net.pick(0, 0, 1, 2))]
    transpose_a, transpose_b = net.draw(st.booleans()), net.draw(st.booleans())

    def operand(rows: int, cols: int, transposed: bool) -> SSAValue:
        lead = net.pick(batch, [1] * len(batch), batch[1:])
        return net.operand(*lead, *((cols, rows) if transposed else (rows, cols)))

    a = net.maybe(operand(m, k, transpose_a), relu, per_channel)
    b = net.maybe(operand(k, n, transpose_b), relu)
    return net.finish(net.maybe(net.add(nn.MatmulOp(a, b, transpose_a, transpose_b)), *MOVES))


def large_matmul(net: Network) -> ModuleOp:
    """Large enough for the GPU's panels in local memory."""
    a, b = net.operand(net.pick(16, 17, 20), net.pick(32, 35)), net.operand(35, net.pick(16, 23))
    if nn.shape_of(a)[1] != 35:
        b = net.operand(32, 18)
    return net.finish(net.maybe(net.add(nn.MatmulOp(a, b)), *AFTER))


def attention(net: Network) -> ModuleOp:
    """Heads may share keys and values; a mask or a bias may follow the product."""
    queries, keys, depth = net.size(19), net.size(9), net.size(5)
    heads = net.pick(1, 3)
    q, k = net.input(2, heads, queries, depth), net.input(1, heads, keys, depth)
    v = net.input(net.pick(1, 2), net.pick(1, heads), keys, net.size(9))
    s = net.add(nn.MatmulOp(q, k, transpose_b=True))
    s = net.add(nn.BinaryOp(s, net.constant(1), "mul"))
    if net.draw(st.booleans()):
        s = net.add(nn.BinaryOp(net.operand(net.pick(1, queries), keys), s, "add"))
    w = net.add(nn.SoftmaxOp(s, 3))
    y = net.add(nn.MatmulOp(w, v))
    return net.finish(net.maybe(y, transpose, relu))


def pool(net: Network) -> ModuleOp:
    x = net.maybe(net.input(net.size(2), net.size(3), net.size(9) + 2, net.size(11) + 2), *BEFORE)
    kernel = [net.size(3), net.size(3)]
    window = {
        "strides": [net.size(2), net.size(2)],
        "pads": [net.draw(st.integers(0, k - 1)) for k in (*kernel, *kernel)],
        "ceil_mode": net.draw(st.booleans()),
    }
    if net.pick("pool", "pool", "indices") == "indices":
        return net.finish(net.add(nn.MaxPoolIndicesOp(x, kernel, **window)))
    kind, counted = net.pick("max", "average"), net.draw(st.booleans())
    y = net.add(nn.PoolOp(x, kind, kernel, count_include_pad=counted, **window))
    return net.finish(net.maybe(y, *AFTER))


def reduction(net: Network) -> ModuleOp:
    shape = [net.size(4), net.size(5), net.size(19)]
    axes = net.draw(st.sets(st.integers(0, 2), min_size=1))
    x = net.maybe(net.input(*shape), relu, per_channel)
    kind = net.pick("sum", "mean", "max", "min", "l1", "sum_square")
    y = net.add(nn.ReduceOp(x, kind, sorted(axes), net.draw(st.booleans())))
    return net.finish(net.maybe(y, relu, clip))


def arg_reduction(net: Network) -> ModuleOp:
    x = net.input(net.size(4), net.size(5), net.size(19))
    last = net.draw(st.booleans())
    op = nn.ArgReduceOp(x, net.pick("max", "min"), net.pick(0, 1, 2), True, last)
    return net.finish(net.add(op))


def normalization(net: Network) -> ModuleOp:
    shape = [net.size(3), net.pick(2, 4), net.size(19)]
    x = net.maybe(net.input(*shape), relu, per_channel)
    axis = net.pick(1, 2)
    scale, bias = (net.constant(*shape[axis:]) for _ in range(2))
    channels = [net.constant(shape[1]) for _ in range(2)]
    make = net.pick(
        lambda: nn.SoftmaxOp(x, net.pick(0, 1, 2), net.draw(st.booleans())),
        lambda: nn.LayerNormOp(x, scale, net.pick(bias, None), axis),
        lambda: nn.RmsNormOp(x, scale, axis),
        lambda: nn.GroupNormOp(x, *channels, net.pick(1, 2)),
    )
    return net.finish(net.maybe(net.add(make()), relu, per_channel))


def movement(net: Network) -> ModuleOp:
    x = net.input(*(net.size(5) for _ in range(3)))
    y = net.maybe(x, *BEFORE, transpose, reshape, residual)
    z = net.maybe(x, *BEFORE)
    flat = [net.add(nn.ReshapeOp(v, [nn.count(nn.shape_of(v))])) for v in (y, z, x)]
    return net.finish(net.maybe(net.add(nn.ConcatOp(flat, 0)), relu, per_channel), y)


def several_results(net: Network) -> ModuleOp:
    x = net.maybe(net.input(net.size(3), net.size(7)), relu)
    axis = net.pick(0, 1)
    k = net.draw(st.integers(0, nn.shape_of(x)[axis]))
    op = nn.TopKOp(x, k, axis, net.draw(st.booleans()))
    net.add(op)
    results = shuffle(net.data, op.results)[: net.size(2)]
    return net.finish(*results)


FAMILIES = [
    convolution,
    transposed_convolution,
    matmul,
    attention,
    large_matmul,
    pool,
    reduction,
    arg_reduction,
    normalization,
    movement,
    several_results,
    graph,
]


def assert_same(ours: Sequence[np.ndarray], expected: Sequence[np.ndarray], step: str) -> None:
    for a, b in zip(ours, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4, err_msg=step)
