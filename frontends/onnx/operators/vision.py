"""Operators of detection networks, composed of gathers and convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import Array, is_float, shape_of, tensor_type
from ...builder import Builder, dtype_of_value
from ..node import Handler, NodeContext, Table
from .grid_sample import Sampler, Tap, weighted_sum
from .window import read_kernel, read_lengths

MAX_RATIO, MAX_BINS = 64, 1024
"""RoiAlign: samples along one side of a bin, and bins along one side of a region, at most."""


def import_col2im(node: NodeContext) -> SSAValue:
    """Import Col2Im, a sum of overlapping blocks, as a transposed convolution with unit kernels."""
    image, block = node.constant_ints(1, "image shape"), node.constant_ints(2, "block shape")
    rank, size = len(block), math.prod(block)
    node.check_rank(0, 3, 3)
    if len(image) != rank or min(block, default=0) < 1 or node.shape()[1] % size:
        node.refuse(f"input shape {list(node.shape())} does not match blocks of {list(block)}.")
    strides = read_lengths(node, "strides", rank, 1)
    dilations = read_lengths(node, "dilations", rank, 1)
    pads = read_lengths(node, "pads", 2 * rank, 0)
    if min(strides) < 1:
        node.refuse(f"strides {list(strides)} must be positive.")
    spans = [(b - 1) * d + 1 for b, d in zip(block, dilations, strict=True)]
    slack = [
        n + low + high - span
        for n, low, high, span in zip(image, pads[:rank], pads[rank:], spans, strict=True)
    ]
    counts = [s // stride + 1 for s, stride in zip(slack, strides, strict=True)]
    batch, rows, blocks = node.shape()
    if math.prod(counts) != blocks:
        node.refuse(f"its input has {blocks} blocks, but the image has {math.prod(counts)}.")
    channels, builder = rows // size, node.builder
    builder.reserve(rows, size)
    kernel = np.tile(np.eye(size), (channels, 1)).reshape(rows, 1, *block)
    return node.add(
        nn.ConvTransposeOp(
            builder.reshape(node.input(0), (batch, rows, *counts)),
            builder.constant(kernel.astype(dtype_of_value(node.input(0)))),
            strides=strides,
            dilations=dilations,
            pads=pads,
            output_padding=[s % stride for s, stride in zip(slack, strides, strict=True)],
            groups=channels,
        )
    )


def _kernel_positions(
    node: NodeContext, kernel: Sequence[int], out: Sequence[int], axis: int
) -> Array:
    """Return [kernel, out]: the undeformed position of a kernel element along one spatial axis."""
    rank = len(kernel)
    stride = read_lengths(node, "strides", rank, 1)[axis]
    dilation = read_lengths(node, "dilations", rank, 1)[axis]
    pad = read_lengths(node, "pads", 2 * rank, 0)[axis]
    node.builder.reserve(len(kernel), *kernel)
    node.builder.reserve(len(kernel), *out)
    node.builder.reserve(*kernel, *out)
    element = np.indices(kernel)[axis].reshape(-1, 1) * dilation
    return element + np.indices(out)[axis].reshape(1, -1) * stride - pad


def import_deform_conv(node: NodeContext) -> SSAValue:
    """Import DeformConv: sample the image at displaced positions, then multiply in groups."""
    builder, x, offset, mask = node.builder, node.input(0), node.input(2), node.optional(4)
    kernel = read_kernel(node, node.shape(1)[2:])
    for index in range(3):
        node.check_rank(index, 4, 4)
    batch, channels, *image = node.shape()
    groups, shares = node.integer("group", 1), node.integer("offset_group", 1)
    features, taken = node.shape(1)[0], node.shape(1)[1]
    out = node.shape(2)[2:]
    elements, pixels = math.prod(kernel), math.prod(out)
    fits = min(groups, shares) > 0 and taken * groups == channels and channels % shares == 0
    if not fits or features % groups or node.shape(2)[1] != shares * elements * 2:
        node.refuse("its groups, channels and offsets do not match.")
    parted = builder.reshape(offset, (batch * shares, elements, 2, pixels))
    sampler, taps = Sampler(builder, "linear", "zeros", True), list[list[Tap]]()
    for axis, length in enumerate(image):
        moved = builder.reshape(
            builder.slice(parted, 2, axis, 1), (batch * shares, elements, pixels)
        )
        rest = _kernel_positions(node, kernel, out, axis).astype(dtype_of_value(offset))
        position = builder.binary("add", moved, builder.constant(rest))
        flat = builder.reshape(position, (batch * shares, 1, elements * pixels))
        taps.append(sampler.taps_at(flat, length))
    split = builder.reshape(x, (batch * shares, channels // shares, *image))
    columns = weighted_sum(builder, split, image, taps)
    if mask is not None:
        weights = builder.reshape(mask, (batch * shares, 1, elements * pixels))
        columns = builder.binary("mul", columns, weights)
    matrix = builder.reshape(columns, (batch, groups, taken * elements, pixels))
    filters = builder.reshape(node.input(1), (groups, features // groups, taken * elements))
    y = builder.reshape(builder.matmul(filters, matrix), (batch, features, *out))
    bias = node.optional(3)
    return y if bias is None else builder.binary("add", y, builder.reshape(bias, (features, 1, 1)))


def _samples(
    builder: Builder, start: SSAValue, size: SSAValue, bins: int, ratio: int, length: int
) -> list[Tap]:
    """Return the two taps of each sample along one axis, [rois, bins * ratio].

    Samples beyond the border get the weight zero.
    """
    steps = (np.arange(bins * ratio) + 0.5) / (bins * ratio)
    steps = builder.constant(steps.astype(dtype_of_value(start)))
    place = builder.binary("add", start, builder.binary("mul", size, steps))
    inside = builder.binary(
        "and", builder.compare("ge", place, -1), builder.compare("le", place, length)
    )
    place = builder.add(nn.ClipOp(place, 0, length - 1))
    low = builder.unary("floor", place)
    fraction = builder.binary("sub", place, low)
    high = builder.add(nn.ClipOp(builder.binary("add", low, 1), 0, length - 1))
    hit = builder.cast(inside, tensor_type(place).element_type)
    rest = builder.binary("sub", builder.scalar(1, fraction), fraction)
    return [
        Tap(builder.cast(at, i32), builder.binary("mul", weight, hit))
        for at, weight in ((low, rest), (high, fraction))
    ]


def roi_align(default_mode: str | None) -> Handler:
    """Return the importer of RoiAlign by averages, or by the largest weighted pixel of all samples.

    Before opset 16 (no default mode) coordinates are not shifted by half a pixel.
    """

    def handler(node: NodeContext) -> SSAValue:
        builder, x, rois = node.builder, node.input(0), node.input(1)
        mode = node.choice("mode", "avg", ("avg", "max"))
        merge, pool = ("add", "mean") if mode == "avg" else ("max", "max")
        ratio, scale = node.integer("sampling_ratio", 0), node.real("spatial_scale", 1.0)
        bins = [node.integer(f"output_{side}", 1) for side in ("height", "width")]
        shifted = (
            default_mode is not None
            and node.choice(
                "coordinate_transformation_mode", default_mode, ("half_pixel", "output_half_pixel")
            )
            == "half_pixel"
        )
        node.check_rank(0, 4, 4)
        node.check_rank(1, 2, 2)
        node.check_rank(2, 1, 1)
        if not 1 <= ratio <= MAX_RATIO or not 1 <= min(bins) <= max(bins) <= MAX_BINS:
            node.refuse(
                f"sampling_ratio must be 1 to {MAX_RATIO}, the output 1 to {MAX_BINS} bins."
            )
        if not is_float(tensor_type(rois).element_type):
            node.refuse("its regions must be float.")
        _, channels, *image = node.shape()
        count = node.shape(1)[0]
        corners = builder.binary("mul", rois, scale)
        if shifted:
            corners = builder.binary("sub", corners, 0.5)
        taps: list[list[Tap]] = []
        for axis, (length, n) in enumerate(zip(image, bins, strict=True)):
            # A region is x1, y1, x2, y2: the reverse of the image's axes.
            start, end = (builder.slice(corners, 1, 1 - axis + 2 * i, 1) for i in range(2))
            size = builder.binary("sub", end, start)
            if not shifted:
                size = builder.binary("max", size, 1.0)
            taps.append(_samples(builder, start, size, n, ratio, length))
        total = _pool_samples(builder, x, node.input(2), taps, merge)
        grid = (channels, count, bins[0], ratio, bins[1], ratio)
        pooled = builder.reduce(pool, builder.reshape(total, grid), (3, 5), keepdims=False)
        return builder.transpose(pooled, (1, 0, 2, 3))

    return handler


def _pool_samples(
    builder: Builder,
    x: SSAValue,
    batch_indices: SSAValue,
    taps: Sequence[Sequence[Tap]],
    merge: str,
) -> SSAValue:
    """Return every sample, its weighted pixels merged: [channels, rois, rows, columns]."""
    batch, channels, height, width = shape_of(x)
    images = builder.reshape(builder.transpose(x, (1, 0, 2, 3)), (channels, batch * height * width))
    count = shape_of(batch_indices)[0]
    base = builder.binary("mul", builder.cast(batch_indices, i32), height * width)
    base = builder.reshape(base, (count, 1, 1))
    total: SSAValue | None = None
    for row in taps[0]:
        rows = builder.reshape(row.place, (count, shape_of(row.place)[1], 1))
        offset = builder.binary("add", base, builder.binary("mul", rows, width))
        for column in taps[1]:
            columns = builder.reshape(column.place, (count, 1, shape_of(column.place)[1]))
            index = builder.binary("add", offset, columns)
            assert row.weight is not None
            assert column.weight is not None
            weight = builder.binary(
                "mul",
                builder.reshape(row.weight, shape_of(rows)),
                builder.reshape(column.weight, shape_of(columns)),
            )
            value = builder.binary("mul", builder.gather(images, index, 1), weight)
            total = value if total is None else builder.binary(merge, total, value)
    assert total is not None
    return total


TABLE: Table = {
    "Col2Im": {18: import_col2im},
    "DeformConv": {19: import_deform_conv},
    "RoiAlign": {10: roi_align(None), 16: roi_align("half_pixel")},
}
