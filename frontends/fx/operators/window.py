"""Convolutions, poolings and resizes."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import shape_of
from ...builder import dtype_of_value
from ..call import FxCall, Handler, Results, Table


def _convolution(call: FxCall) -> SSAValue:
    x, weight, bias = call.tensor("input"), call.tensor("weight"), call.optional("bias")
    rank = len(shape_of(x)) - 2
    if not 1 <= rank <= 3 or len(shape_of(weight)) != rank + 2:
        call.refuse(f"must have an input of rank 3 to 5, not {rank + 2}")
    strides, dilations = call.ints("stride", rank), call.ints("dilation", rank)
    pads, groups = call.ints("padding", rank) * 2, int(call["groups"])
    if not call["transposed"]:
        return call.add(
            nn.ConvOp(
                x, weight, bias, strides=strides, dilations=dilations, pads=pads, groups=groups
            )
        )
    return call.add(
        nn.ConvTransposeOp(
            x,
            weight,
            bias,
            strides=strides,
            dilations=dilations,
            pads=pads,
            output_padding=call.ints("output_padding", rank),
            groups=groups,
        )
    )


def _batched(call: FxCall, rank: int) -> tuple[SSAValue, bool]:
    """Return the input with a batch dimension, and whether it had none."""
    x = call.tensor()
    alone = len(shape_of(x)) == rank + 1
    return (call.builder.reshape(x, (1, *shape_of(x))) if alone else x), alone


def _unbatched(call: FxCall, y: SSAValue, alone: bool) -> SSAValue:
    return call.builder.reshape(y, shape_of(y)[1:]) if alone else y


def max_pool(rank: int) -> Handler:
    """Return the importer of max pooling; the indices, its second result, are not computed."""

    def handler(call: FxCall) -> Results:
        x, alone = _batched(call, rank)
        kernel = call.ints("kernel_size", rank)
        y = call.add(
            nn.PoolOp(
                x,
                "max",
                kernel,
                strides=call.ints("stride", rank) or kernel,
                dilations=call.ints("dilation", rank) or (1,) * rank,
                pads=(call.ints("padding", rank) or (0,) * rank) * 2,
                ceil_mode=bool(call["ceil_mode"]),
            )
        )
        return [_unbatched(call, y, alone), None]

    return handler


def average_pool(rank: int) -> Handler:
    """Return the importer of average pooling."""

    def handler(call: FxCall) -> SSAValue:
        if call["divisor_override"] is not None:
            call.refuse("has a divisor_override")
        x, alone = _batched(call, rank)
        kernel = call.ints("kernel_size", rank)
        y = call.add(
            nn.PoolOp(
                x,
                "average",
                kernel,
                strides=call.ints("stride", rank) or kernel,
                pads=(call.ints("padding", rank) or (0,) * rank) * 2,
                ceil_mode=bool(call["ceil_mode"]),
                count_include_pad=call["count_include_pad"] is not False,
            )
        )
        return _unbatched(call, y, alone)

    return handler


def adaptive_average_pool(rank: int) -> Handler:
    """Return the importer of adaptive average pooling."""

    def handler(call: FxCall) -> SSAValue:
        x, alone = _batched(call, rank)
        sizes, wanted = shape_of(x)[2:], call.ints("output_size", rank)
        axes = range(2, 2 + rank)
        if all(n == 1 for n in wanted):
            y = call.builder.reduce("mean", x, axes)
        else:
            y = _repeated_or_pooled(call, x, sizes, wanted)
        return _unbatched(call, y, alone)

    return handler


def _repeated_or_pooled(
    call: FxCall, x: SSAValue, sizes: tuple[int, ...], wanted: tuple[int, ...]
) -> SSAValue:
    """Average windows of equal size; an output that is a multiple of the input repeats elements."""
    if all(n == m for n, m in zip(sizes, wanted, strict=True)):
        return x
    if all(m % n == 0 for n, m in zip(sizes, wanted, strict=True)):
        for axis, (n, m) in enumerate(zip(sizes, wanted, strict=True), 2):
            shape = shape_of(x)
            split = call.builder.reshape(x, (*shape[: axis + 1], 1, *shape[axis + 1 :]))
            tiled = (*shape[: axis + 1], m // n, *shape[axis + 1 :])
            merged = (*shape[:axis], m, *shape[axis + 1 :])
            x = call.builder.reshape(call.builder.expand(split, tiled), merged)
        return x
    if any(n % m for n, m in zip(sizes, wanted, strict=True)):
        return _averaged(call, x, wanted)
    kernel = [n // m for n, m in zip(sizes, wanted, strict=True)]
    return call.add(nn.PoolOp(x, "average", kernel, strides=kernel))


def _averaged(call: FxCall, x: SSAValue, wanted: tuple[int, ...]) -> SSAValue:
    """Average windows that overlap or differ in size, by a matrix product along each axis."""
    for axis, m in enumerate(wanted, 2):
        n, last = shape_of(x)[axis], len(shape_of(x)) - 1
        call.builder.reserve(n, m)
        weights = np.zeros((n, m), dtype_of_value(x))
        for i in range(m):
            window = slice(i * n // m, -(-(i + 1) * n // m))
            weights[window, i] = 1 / (window.stop - window.start)
        swap = list(range(last + 1))
        swap[axis], swap[last] = last, axis
        y = call.builder.transpose(x, swap)
        y = call.builder.matmul(y, call.builder.constant(weights))
        x = call.builder.transpose(y, swap)
    return x


def resize(mode: str) -> Handler:
    """Return the importer of a resize to the shape of the result."""

    def handler(call: FxCall) -> SSAValue:
        x, sizes = call.tensor("input"), call.form().shape
        if call["align_corners"]:
            coordinates = "align_corners"
        else:
            coordinates = "asymmetric" if mode == "nearest" else "half_pixel"
        factors = call["scale_factors"]
        scales = None if factors is None else (1.0, 1.0, *factors)
        return call.add(
            nn.ResizeOp(
                x,
                sizes,
                mode,
                coordinate_mode=coordinates,
                nearest_mode="floor",
                scales=None if call["align_corners"] else scales,
            )
        )

    return handler


TABLE: Table = {
    "aten._adaptive_avg_pool2d.default": adaptive_average_pool(2),
    "aten._adaptive_avg_pool3d.default": adaptive_average_pool(3),
    "aten.adaptive_avg_pool1d.default": adaptive_average_pool(1),
    "aten.avg_pool1d.default": average_pool(1),
    "aten.avg_pool2d.default": average_pool(2),
    "aten.avg_pool3d.default": average_pool(3),
    "aten.convolution.default": _convolution,
    "aten.max_pool2d_with_indices.default": max_pool(2),
    "aten.max_pool3d_with_indices.default": max_pool(3),
    "aten.upsample_bilinear2d.vec": resize("linear"),
    "aten.upsample_nearest2d.vec": resize("nearest"),
}
