"""Scores of classes and the labels that they choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from .....dialects import nn
from .....dialects.nn.types import is_float, shape_of, tensor_type
from ....builder import Builder
from ...node import NodeContext

Transform = Callable[[Builder, SSAValue], SSAValue]
"""A function of scores [rows, classes]."""


def rows_of(node: NodeContext) -> SSAValue:
    """Return the first input as [rows, features]; a vector is one row."""
    node.check_rank(0, 1, 2)
    shape = node.shape()
    return node.builder.reshape(node.input(0), shape if len(shape) == 2 else (1, *shape))


def as_float(builder: Builder, x: SSAValue) -> SSAValue:
    """Cast a tensor that does not hold floats to f32."""
    return x if is_float(tensor_type(x).element_type) else builder.cast(x, f32)


def _softmax(builder: Builder, scores: SSAValue) -> SSAValue:
    return builder.add(nn.SoftmaxOp(scores, 1))


def _softmax_zero(builder: Builder, scores: SSAValue) -> SSAValue:
    """Apply a softmax to the scores that are not zero; the others are scaled alike."""
    largest = builder.reduce("max", scores, [1])
    is_zero = builder.compare("le", builder.unary("abs", scores), 1e-7)
    powers = builder.unary("exp", builder.binary("sub", scores, largest))
    powers = builder.where(is_zero, builder.scalar(0, scores), powers)
    scaled = builder.binary("mul", scores, builder.unary("exp", builder.unary("neg", largest)))
    kept = builder.where(is_zero, scaled, powers)
    return builder.binary("div", kept, builder.reduce("sum", powers, [1]))


def _probit(builder: Builder, scores: SSAValue) -> SSAValue:
    """Invert the normal distribution by the approximation of Winitzki (2008), as onnxruntime."""
    x = builder.binary("sub", builder.binary("mul", scores, 2.0), 1.0)
    one = builder.scalar(1, x)
    product = builder.binary("mul", builder.binary("sub", one, x), builder.binary("add", x, 1.0))
    log = builder.unary("log", product)
    v = builder.binary("add", builder.binary("mul", log, 0.5), 2 / (3.14159 * 0.147))
    square = builder.binary("mul", v, v)
    root = builder.unary(
        "sqrt", builder.binary("sub", square, builder.binary("mul", log, 1 / 0.147))
    )
    size = builder.unary("sqrt", builder.binary("sub", root, v))
    size = builder.binary("mul", size, 1.41421356)
    is_low = builder.compare("lt", x, 0.0)
    return builder.where(is_low, builder.unary("neg", size), size)


def _same(builder: Builder, scores: SSAValue) -> SSAValue:
    del builder
    return scores


def logistic(builder: Builder, scores: SSAValue) -> SSAValue:
    """Return 1 / (1 + exp(-score))."""
    return builder.unary("sigmoid", scores)


TRANSFORMS: Mapping[str, Transform] = {
    "NONE": _same,
    "SOFTMAX": _softmax,
    "LOGISTIC": logistic,
    "SOFTMAX_ZERO": _softmax_zero,
    "PROBIT": _probit,
}
"""The values of `post_transform`, in the order of their numbers in TreeEnsemble."""


def read_transform(node: NodeContext) -> str:
    """Return the attribute `post_transform`."""
    return node.choice("post_transform", "NONE", tuple(TRANSFORMS))


@dataclass(frozen=True)
class Labels:
    """The labels of classes."""

    numbers: tuple[int, ...]

    @property
    def count(self) -> int:
        """Return the number of classes."""
        return len(self.numbers)

    def choose(self, builder: Builder, index: SSAValue) -> SSAValue:
        """Return the labels of the classes `index`, [rows]."""
        return builder.gather(builder.constant(np.array(self.numbers, np.int64)), index, 0)

    def best(self, builder: Builder, scores: SSAValue) -> SSAValue:
        """Return the label of the first class with the highest of scores [rows, classes]."""
        return self.choose(builder, best_class(builder, scores))

    def second_if(self, builder: Builder, condition: SSAValue) -> SSAValue:
        """Return the second of two labels where a condition [rows] holds, else the first."""
        return self.choose(builder, builder.cast(condition, i64))


def best_class(builder: Builder, scores: SSAValue) -> SSAValue:
    """Return the index of the first of the highest scores, [rows]."""
    return builder.add(nn.ArgReduceOp(scores, "max", 1, False, False))


def read_labels(node: NodeContext, name: str) -> Labels:
    """Return the labels of a classifier; refuse strings."""
    texts, numbers = node.texts("classlabels_strings"), node.integers(name)
    if not texts:
        return Labels(numbers or ())
    node.refuse(
        "its labels are strings, which are not supported; train with classes 0, 1, 2 and so on."
    )


def with_complement(builder: Builder, score: SSAValue, kind: str) -> SSAValue:
    """Return [rows, 2], the scores of both classes, from the score of the second, [rows, 1].

    `kind` is `one_minus`, `negative` or `logistic`.
    """
    if kind == "one_minus":
        first = builder.binary("sub", builder.scalar(1, score), score)
    else:
        first = builder.unary("neg", score)
    pair = builder.concat([first, score], 1)
    return logistic(builder, pair) if kind == "logistic" else pair


def column(builder: Builder, scores: SSAValue, index: int) -> SSAValue:
    """Return one column of scores as a vector."""
    return builder.reshape(builder.slice(scores, 1, index, 1), (shape_of(scores)[0],))
