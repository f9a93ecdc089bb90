"""Operators on whole tensors: movements, distances, inverses and Fourier transforms."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from .....dialects.nn.types import shape_of
from ....builder import dtype_of_value
from ...node import NodeContext, Table
from ..elementwise import import_identity
from ..generation import import_range
from ..grid_sample import grid_sample
from ..indexing import import_gather_nd
from ..linear import MAX_INVERTED, inverted
from ..shape import import_pad, import_trilu
from ..signal import transform


def import_expand_dims(node: NodeContext) -> SSAValue:
    """Import ExpandDims: insert a dimension of size 1."""
    axis = node.axis(node.constant_int(1, "axis"), node.rank() + 1)
    shape = node.shape()
    return node.builder.reshape(node.input(0), (*shape[:axis], 1, *shape[axis:]))


def import_optional_range(node: NodeContext) -> SSAValue:
    """Import Range, whose step may be absent."""
    if node.optional(2) is None:
        one = node.builder.constant(np.ones((), dtype_of_value(node.input(0))))
        node.inputs = [node.input(0), node.input(1), one]
    return import_range(node)


def import_torch_embedding(node: NodeContext) -> SSAValue:
    """Import TorchEmbedding: rows of a matrix; its other inputs concern training."""
    node.check_rank(0, 2, 2)
    return node.builder.gather(node.input(0), node.input(1), 0)


def import_distances(node: NodeContext) -> SSAValue:
    """Import CDist: the distance of each row of A from each row of B."""
    builder = node.builder
    kind = node.choice("metric", "sqeuclidean", ("sqeuclidean", "euclidean"))
    node.check_rank(0, 2, 2)
    node.check_rank(1, 2, 2)
    (rows, width), (columns, _) = node.shape(0), node.shape(1)
    a = builder.reshape(node.input(0), (rows, 1, width))
    b = builder.reshape(node.input(1), (1, columns, width))
    difference = builder.binary("sub", a, b)
    reduction = "sum_square" if kind == "sqeuclidean" else "l2"
    return builder.reduce(reduction, difference, [2], keepdims=False)


def import_inverse(node: NodeContext) -> SSAValue:
    """Import Inverse of square matrices."""
    node.check_rank(0, 2)
    rows, columns = node.shape()[-2:]
    if rows != columns or rows > MAX_INVERTED:
        node.refuse(
            f"inverts matrices of shape {[rows, columns]}; they must be square, and have at most "
            f"{MAX_INVERTED} rows."
        )
    return inverted(node.builder, node.input(0))


def import_rfft(node: NodeContext) -> SSAValue:
    """Import Rfft along the last dimension: the real and imaginary parts of half a spectrum."""
    builder, shape = node.builder, node.shape()
    _check_transform(node, least_rank=1)
    onesided = node.flag("onesided", True)
    x = builder.reshape(node.input(0), (*shape, 1))
    return transform(node, x, shape[-1], inverse=False, onesided=onesided)


def import_irfft(node: NodeContext) -> SSAValue:
    """Import Irfft: a real signal of even length from half of its spectrum."""
    builder, shape = node.builder, node.shape()
    _check_transform(node, least_rank=2)
    if not node.flag("onesided", True):
        node.refuse("a whole spectrum (onesided = 0) is not supported.")
    y = transform(node, node.input(0), 2 * (shape[-2] - 1), inverse=True, onesided=True)
    return builder.reshape(y, shape_of(y)[:-1])


def _check_transform(node: NodeContext, least_rank: int) -> None:
    node.check_rank(0, least_rank)
    if node.integer("signal_ndim", 1) != 1 or node.flag("normalized"):
        node.refuse("only transforms of one dimension that are not normalised are supported.")


TABLE: Table = {
    "CDist": {1: import_distances},
    "ExpandDims": {1: import_expand_dims},
    "GatherND": {1: import_gather_nd},
    "GridSample": {
        1: grid_sample({"bilinear": "linear", "nearest": "nearest", "bicubic": "cubic"})
    },
    "Inverse": {1: import_inverse},
    "Irfft": {1: import_irfft},
    "Pad": {1: import_pad},
    "Range": {1: import_optional_range},
    "Rfft": {1: import_rfft},
    "SampleOp": {1: import_identity},
    "TorchEmbedding": {1: import_torch_embedding},
    "Trilu": {1: import_trilu},
}
