"""Random numbers, which are constants of the program: every inference draws the same ones.

They are those of `numpy.random.RandomState`, whose stream is frozen, so ONNX's reference evaluator
draws the same numbers from the same seed. Nodes without a seed get 0, 1, 2, ... in the order in
which they are imported, so that their numbers differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from .....dialects import nn
from .....dialects.nn.types import Array, element_type, is_float, tensor_type
from ....builder import dtype_of_value
from ...node import Handler, NodeContext, Table
from ..generation import checked_shape
from ..legacy import import_dropout_6

Draw = Callable[[np.random.RandomState, Sequence[int]], Array]


def generator(node: NodeContext, seed: float | None) -> np.random.RandomState:
    """Return the generator for a seed, or for the next seed of the model."""
    if seed is None:
        return np.random.RandomState(node.builder.next_seed())
    if not math.isfinite(seed):
        node.refuse(f"its seed is {seed}; give a whole number.")
    return np.random.RandomState(int(seed) % 2**32)


def _seeded(node: NodeContext) -> np.random.RandomState:
    return generator(node, node.real("seed") if node.has("seed") else None)


def _uniform(state: np.random.RandomState, shape: Sequence[int]) -> Array:
    return np.asarray(state.random_sample(tuple(shape)))


def _normal(state: np.random.RandomState, shape: Sequence[int]) -> Array:
    return np.asarray(state.standard_normal(tuple(shape)))


def _drawn(node: NodeContext, shape: Sequence[int], dtype: np.dtype[Any], draw: Draw) -> Array:
    """Return numbers of a distribution as a float type."""
    if dtype.kind != "f":
        node.refuse(f"draws numbers of {dtype}; draw float16, float32 or float64 and cast them.")
    return draw(_seeded(node), checked_shape(node, shape)).astype(dtype)


def _as_uniform(node: NodeContext, shape: Sequence[int], dtype: np.dtype[Any]) -> SSAValue:
    low, high = node.real("low", 0.0), node.real("high", 1.0)
    numbers = _drawn(node, shape, dtype, _uniform)
    return node.builder.constant(numbers * dtype.type(high - low) + dtype.type(low))


def _as_normal(node: NodeContext, shape: Sequence[int], dtype: np.dtype[Any]) -> SSAValue:
    mean, scale = node.real("mean", 0.0), node.real("scale", 1.0)
    numbers = _drawn(node, shape, dtype, _normal)
    return node.builder.constant(numbers * dtype.type(scale) + dtype.type(mean))


Distribution = Callable[[NodeContext, Sequence[int], "np.dtype[Any]"], SSAValue]


def of_shape(distribution: Distribution) -> Handler:
    """Return the importer of random numbers of the shape in an attribute."""

    def handler(node: NodeContext) -> SSAValue:
        shape = node.integers("shape")
        if shape is None:
            node.refuse("the attribute 'shape' is missing.")
        dtype = node.dtype(node.integer("dtype", TensorProto.FLOAT))
        return distribution(node, shape, dtype)

    return handler


def of_input(distribution: Distribution) -> Handler:
    """Return the importer of random numbers of the shape, and by default the type, of the input."""

    def handler(node: NodeContext) -> SSAValue:
        return distribution(node, node.shape(), _result_dtype(node))

    return handler


def _result_dtype(node: NodeContext) -> np.dtype[Any]:
    """Return the type in the attribute `dtype`, by default the type of the input."""
    has_type = node.has("dtype")
    return node.dtype(node.integer("dtype")) if has_type else dtype_of_value(node.input(0))


def _thresholds(node: NodeContext, state: np.random.RandomState, like: SSAValue) -> SSAValue:
    """Return uniform numbers of the shape of the input and the element type of `like`."""
    shape = checked_shape(node, node.shape())
    return node.builder.constant(_uniform(state, shape).astype(dtype_of_value(like)))


def import_bernoulli(node: NodeContext) -> SSAValue:
    """Import Bernoulli like RandomState.binomial, which maps large numbers to the rarer outcome."""
    builder, p = node.builder, node.input(0)
    if not is_float(tensor_type(p).element_type):
        node.refuse("its probabilities must be float.")
    drawn = _thresholds(node, _seeded(node), p)
    rest = builder.binary("sub", builder.scalar(1, p), p)
    is_one = builder.where(
        builder.compare("le", p, 0.5),
        builder.compare("gt", drawn, rest),
        builder.compare("le", drawn, p),
    )
    return builder.cast(is_one, element_type(_result_dtype(node)))


def import_multinomial(node: NodeContext) -> SSAValue:
    """Import Multinomial: count the classes whose cumulative probability a number reaches."""
    builder = node.builder
    node.check_rank(0, 2, 2)
    (batch, classes), samples = node.shape(), node.integer("sample_size", 1)
    if classes < 1:
        node.refuse("there are no classes to draw.")
    dtype = node.dtype(node.integer("dtype", TensorProto.INT32))
    if dtype.name not in ("int32", "int64"):
        node.refuse(f"draws classes as {dtype}; only int32 and int64 are supported.")
    shape = checked_shape(node, (batch, samples, 1))
    drawn = _uniform(_seeded(node), shape).astype(np.float32)
    drawn = np.minimum(drawn, np.nextafter(np.float32(1), np.float32(0)))
    logits = builder.cast(node.input(0), f32)
    largest = builder.reduce("max", logits, [1])
    weights = builder.unary("exp", builder.binary("sub", logits, largest))
    sums = builder.add(nn.CumsumOp(weights, 1))
    total = builder.reshape(builder.slice(sums, 1, classes - 1, 1), (batch, 1, 1))
    reached = builder.compare(
        "le",
        builder.reshape(sums, (batch, 1, classes)),
        builder.binary("mul", builder.constant(drawn), total),
    )
    count = builder.reduce("sum", builder.cast(reached, i64), [2], keepdims=False)
    return builder.cast(count, element_type(dtype))


def _keep_mask(node: NodeContext, like_input: bool) -> Sequence[SSAValue]:
    x = node.input(0)
    dtype = dtype_of_value(x) if like_input else np.dtype(np.bool_)
    if not node.wants(1):
        return [x]
    node.builder.reserve(*node.shape())
    return [x, node.builder.constant(np.ones(node.shape(), dtype))]


def dropout_attribute(like_input: bool) -> Handler:
    """Return the importer of Dropout before opset 12 as its input, as in inference."""

    def handler(node: NodeContext) -> Sequence[SSAValue]:
        node.real("ratio", 0.5)
        return _keep_mask(node, like_input)

    return handler


def import_dropout(node: NodeContext) -> Sequence[SSAValue]:
    """Import Dropout: in training mode it clears elements and scales the others."""
    builder, x = node.builder, node.input(0)
    seed = node.integer("seed", 0) if node.has("seed") else None
    training = node.optional_constant(2, "training mode")
    ratio = node.optional(1) or builder.constant(np.array(0.5, np.float32))
    known = builder.known(ratio)
    is_kept = known is not None and not known.any()
    if training is None or not training.any() or is_kept:
        return _keep_mask(node, like_input=False)
    ratio = builder.reshape(ratio, ())
    mask = builder.compare("ge", _thresholds(node, generator(node, seed), ratio), ratio)
    kept = builder.binary("sub", builder.scalar(1, ratio), ratio)
    scaled = builder.binary("div", x, builder.cast(kept, tensor_type(x).element_type))
    return [builder.where(mask, scaled, builder.scalar(0, x)), mask]


TABLE: Table = {
    "Bernoulli": {15: import_bernoulli},
    "Dropout": {
        6: import_dropout_6,
        7: dropout_attribute(like_input=True),
        10: dropout_attribute(like_input=False),
        12: import_dropout,
    },
    "Multinomial": {7: import_multinomial},
    "RandomNormal": {1: of_shape(_as_normal)},
    "RandomNormalLike": {1: of_input(_as_normal)},
    "RandomUniform": {1: of_shape(_as_uniform)},
    "RandomUniformLike": {1: of_input(_as_uniform)},
}
