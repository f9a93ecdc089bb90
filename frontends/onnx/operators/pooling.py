"""Poolings over windows and over whole images."""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from ....dialects import nn
from ..node import Handler, NodeContext, Results, Table
from .generation import zeros
from .window import read_kernel, read_lengths, read_window


def import_max_pool(node: NodeContext) -> Results:
    """Import MaxPool with its optional indices."""
    x = node.input(0)
    window = read_window(node)
    ceil_mode, order = node.flag("ceil_mode"), node.integer("storage_order", 0)
    pooled = node.add(
        nn.PoolOp(
            x,
            "max",
            window.kernel,
            strides=window.strides,
            dilations=window.dilations,
            pads=window.pads,
            ceil_mode=ceil_mode,
        )
    )
    if not node.wants(1):
        return pooled
    indices = node.add(
        nn.MaxPoolIndicesOp(
            x,
            window.kernel,
            strides=window.strides,
            dilations=window.dilations,
            pads=window.pads,
            ceil_mode=ceil_mode,
            storage_order=order,
        )
    )
    return [pooled, indices]


def average_pool(dilated: bool) -> Handler:
    """Return the importer of AveragePool; opset 19 added dilations."""
    return lambda node: average(node, node.input(0), dilated)


def average(node: NodeContext, x: SSAValue, dilated: bool) -> SSAValue:
    """Average x, which has the shape of the first input, over the node's windows."""
    window = read_window(node, dilated=dilated)
    return node.add(
        nn.PoolOp(
            x,
            "average",
            window.kernel,
            strides=window.strides,
            dilations=window.dilations,
            pads=window.pads,
            ceil_mode=node.flag("ceil_mode"),
            count_include_pad=node.flag("count_include_pad"),
        )
    )


def lp_pool(dilated: bool) -> Handler:
    """Return the importer of LpPool; opset 18 added dilations and ceil_mode."""

    def handler(node: NodeContext) -> SSAValue:
        window = read_window(node, dilated=dilated)
        return node.add(
            nn.PoolOp(
                node.input(0),
                "lp",
                window.kernel,
                strides=window.strides,
                dilations=window.dilations,
                pads=window.pads,
                ceil_mode=dilated and node.flag("ceil_mode"),
                p=node.integer("p", 2),
            )
        )

    return handler


def global_pool(kind: str) -> Handler:
    """Return the importer of a global pooling: a reduction over the spatial dimensions."""

    def handler(node: NodeContext) -> SSAValue:
        return node.builder.reduce(kind, node.input(0), range(2, node.rank()))

    return handler


def import_global_lp_pool(node: NodeContext) -> SSAValue:
    """Import GlobalLpPool: the p-norm over the spatial dimensions."""
    x, p, axes = node.input(0), node.integer("p", 2), range(2, node.rank())
    if p in (1, 2):
        return node.builder.reduce(f"l{p}", x, axes)
    if p < 1:
        node.refuse(f"p must be positive but is {p}.")
    powers = node.builder.binary("pow", node.builder.unary("abs", x), float(p))
    return node.builder.binary("pow", node.builder.reduce("sum", powers, axes), 1 / p)


def import_max_unpool(node: NodeContext) -> SSAValue:
    """Import MaxUnpool: scatter the elements to the positions in `indices`, zeros elsewhere."""
    x, indices = node.input(0), node.input(1)
    kernel = read_kernel(node)
    rank = len(kernel)
    strides = read_lengths(node, "strides", rank, 1)
    pads = read_lengths(node, "pads", 2 * rank, 0)
    sizes = [
        (n - 1) * s + k - low - high
        for n, s, k, low, high in zip(
            node.shape()[2:], strides, kernel, pads[:rank], pads[rank:], strict=True
        )
    ]
    if min(sizes) < 0:
        node.refuse("its pads are larger than the result.")
    shape = (*node.shape()[:2], *sizes)
    builder, size = node.builder, math.prod(shape)
    flat = nn.ScatterElementsOp(
        zeros(builder, (size,), x),
        builder.reshape(indices, (math.prod(node.shape(1)),)),
        builder.reshape(x, (math.prod(node.shape()),)),
    )
    result = builder.reshape(node.add(flat), shape)
    if node.optional(2) is None:
        return result
    wanted = node.constant_ints(2, "output shape")
    if len(wanted) != len(shape):
        node.refuse(f"its output shape {list(wanted)} must have rank {len(shape)}.")
    high = [n - m for n, m in zip(wanted, shape, strict=True)]
    return node.add(nn.PadOp(result, [0] * len(shape), high)) if any(high) else result


TABLE: Table = {
    "AveragePool": {1: average_pool(dilated=False), 19: average_pool(dilated=True)},
    "GlobalAveragePool": {1: global_pool("mean")},
    "GlobalLpPool": {2: import_global_lp_pool},
    "GlobalMaxPool": {1: global_pool("max")},
    "LpPool": {2: lp_pool(dilated=False), 18: lp_pool(dilated=True)},
    "MaxPool": {1: import_max_pool},
    "MaxUnpool": {9: import_max_unpool},
}
