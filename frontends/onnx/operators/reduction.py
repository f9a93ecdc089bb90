"""Reductions, argmax and argmin, scans, softmax and related operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import SSAValue

from ....dialects import nn
from ....dialects.nn.types import is_float, shape_of, tensor_type
from ...builder import Builder, dtype_of_value
from ..node import Handler, NodeContext, Table

AlongAxis = Callable[[Builder, SSAValue, int], SSAValue]
"""A function along one axis of a tensor."""


def reduction_attribute(kind: str) -> Handler:
    """Return the importer of a reduction whose axes are an attribute; none means all axes."""

    def handler(node: NodeContext) -> SSAValue:
        return _reduce(node, kind, node.integers("axes") or range(node.rank()))

    return handler


def reduction_input(kind: str) -> Handler:
    """Return the importer of a reduction whose axes are an input.

    Without axes it reduces all, or none with noop_with_empty_axes.
    """

    def handler(node: NodeContext) -> SSAValue:
        axes = None if node.optional(1) is None else node.constant_ints(1, "axes")
        noop = node.flag("noop_with_empty_axes")
        return _reduce(node, kind, axes or (() if noop else range(node.rank())))

    return handler


def _reduce(node: NodeContext, kind: str, axes: Sequence[int]) -> SSAValue:
    x, keepdims = node.input(0), node.flag("keepdims", True)
    places = sorted({node.axis(axis, node.rank()) for axis in axes})
    element = tensor_type(x).element_type
    if not is_float(element) and kind in ("l2", "log_sum", "log_sum_exp", "mean"):
        node.refuse(f"of {element} elements is not supported; cast the input to float.")
    if not places and kind in ("sum", "mean", "max", "min", "prod"):
        return x
    if kind in ("max", "min") and places and 0 in node.shape():
        x = _no_elements(node, kind, places)
    return node.builder.reduce(kind, x, places, keepdims)


def _no_elements(node: NodeContext, kind: str, axes: Sequence[int]) -> SSAValue:
    """Return a constant to reduce in place of no elements: the identity of max or min."""
    dtype = dtype_of_value(node.input(0))
    lowest, highest = (-np.inf, np.inf) if dtype.kind == "f" else (False, True)
    if dtype.kind in "iu":
        lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
    shape = [1 if i in axes else n for i, n in enumerate(node.shape())]
    node.builder.reserve(*shape)
    return node.builder.constant(np.full(shape, lowest if kind == "max" else highest, dtype))


def arg_reduction(kind: str) -> Handler:
    """Return the importer of ArgMax or ArgMin."""

    def handler(node: NodeContext) -> SSAValue:
        axis = node.axis(node.integer("axis", 0), node.rank())
        keepdims, last = node.flag("keepdims", True), node.flag("select_last_index")
        return node.add(nn.ArgReduceOp(node.input(0), kind, axis, keepdims, last))

    return handler


def import_cumsum(node: NodeContext) -> SSAValue:
    """Import CumSum along a constant axis."""
    axis = node.constant_int(1, "axis")
    exclusive, reverse = node.flag("exclusive"), node.flag("reverse")
    place = node.axis(axis, node.rank())
    return node.add(nn.CumsumOp(node.input(0), place, exclusive, reverse))


def import_cumprod(node: NodeContext) -> SSAValue:
    """Import CumProd: products over spans that double (Hillis and Steele, 1986)."""
    builder, x = node.builder, node.input(0)
    axis = node.constant_int(1, "axis")
    axis = node.axis(axis, node.rank())
    length = node.shape()[axis]
    exclusive, reverse = node.flag("exclusive"), node.flag("reverse")

    def delayed(value: SSAValue, by: int) -> SSAValue:
        ones = [by if i == axis else n for i, n in enumerate(node.shape())]
        kept = builder.slice(value, axis, 0, length - by)
        return builder.concat([builder.expand(builder.scalar(1, x), ones), kept], axis)

    if reverse:
        x = builder.slice(x, axis, length - 1, length, -1)
    if exclusive:
        x = delayed(x, 1)
    for power in range((length - 1).bit_length()):
        x = builder.binary("mul", x, delayed(x, 1 << power))
    return builder.slice(x, axis, length - 1, length, -1) if reverse else x


def import_top_k_attribute(node: NodeContext) -> Sequence[SSAValue]:
    """Import TopK before opset 10: k is an attribute."""
    axis = node.axis(node.integer("axis", -1), node.rank())
    return node.builder.add_all(nn.TopKOp(node.input(0), node.integer("k"), axis))


def import_top_k(node: NodeContext) -> Sequence[SSAValue]:
    """Import TopK; sorted results are one of the orders that `sorted = 0` allows."""
    axis = node.axis(node.integer("axis", -1), node.rank())
    node.flag("sorted", True)
    k = node.constant_int(1, "k")
    return node.builder.add_all(nn.TopKOp(node.input(0), k, axis, node.flag("largest", True)))


def softmax(builder: Builder, x: SSAValue, axis: int) -> SSAValue:
    """Append a softmax along one axis."""
    return builder.add(nn.SoftmaxOp(x, axis))


def log_softmax(builder: Builder, x: SSAValue, axis: int) -> SSAValue:
    """Append the logarithm of a softmax along one axis."""
    return builder.add(nn.SoftmaxOp(x, axis, log=True))


def hardmax(builder: Builder, x: SSAValue, axis: int) -> SSAValue:
    """Return 1 at the first maximum along an axis, 0 elsewhere."""
    shape = shape_of(x)
    winner = builder.add(nn.ArgReduceOp(x, "max", axis, keepdims=True))
    hits = builder.compare("eq", winner, builder.positions(shape[axis], axis, len(shape)))
    return builder.cast(hits, tensor_type(x).element_type)


def along_axis(function: AlongAxis) -> Handler:
    """Return the importer of an operator along one axis, by default the last (since opset 13)."""

    def handler(node: NodeContext) -> SSAValue:
        axis = node.axis(node.integer("axis", -1), node.rank())
        return function(node.builder, node.input(0), axis)

    return handler


def flattened(function: AlongAxis) -> Handler:
    """Return the importer of an operator over all dimensions from an axis on (before opset 13)."""

    def handler(node: NodeContext) -> SSAValue:
        axis = node.axis(node.integer("axis", 1), node.rank())
        return over_rows(function, node.builder, node.input(0), axis)

    return handler


def over_rows(function: AlongAxis, builder: Builder, x: SSAValue, axis: int) -> SSAValue:
    """Apply a function over all dimensions of x from an axis on, flattened to one."""
    shape = shape_of(x)
    if math.prod(shape[axis + 1 :]) == 1:
        return function(builder, x, axis)
    matrix = (math.prod(shape[:axis]), math.prod(shape[axis:]))
    return builder.reshape(function(builder, builder.reshape(x, matrix), 1), shape)


TABLE: Table = {
    "ArgMax": {1: arg_reduction("max")},
    "ArgMin": {1: arg_reduction("min")},
    "CumProd": {26: import_cumprod},
    "CumSum": {11: import_cumsum},
    "Hardmax": {1: flattened(hardmax), 13: along_axis(hardmax)},
    "LogSoftmax": {1: flattened(log_softmax), 13: along_axis(log_softmax)},
    "ReduceL1": {1: reduction_attribute("l1"), 18: reduction_input("l1")},
    "ReduceL2": {1: reduction_attribute("l2"), 18: reduction_input("l2")},
    "ReduceLogSum": {1: reduction_attribute("log_sum"), 18: reduction_input("log_sum")},
    "ReduceLogSumExp": {1: reduction_attribute("log_sum_exp"), 18: reduction_input("log_sum_exp")},
    "ReduceMax": {1: reduction_attribute("max"), 18: reduction_input("max")},
    "ReduceMean": {1: reduction_attribute("mean"), 18: reduction_input("mean")},
    "ReduceMin": {1: reduction_attribute("min"), 18: reduction_input("min")},
    "ReduceProd": {1: reduction_attribute("prod"), 18: reduction_input("prod")},
    "ReduceSum": {1: reduction_attribute("sum"), 13: reduction_input("sum")},
    "ReduceSumSquare": {1: reduction_attribute("sum_square"), 18: reduction_input("sum_square")},
    "Softmax": {1: flattened(softmax), 13: along_axis(softmax)},
    "TopK": {1: import_top_k_attribute, 10: import_top_k},
}
